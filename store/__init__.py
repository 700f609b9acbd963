"""The store: everything durable, in SQL. It takes and gives ``agent``'s types only."""

from __future__ import annotations

from store.open import SqlStore, open_store

__all__ = ["SqlStore", "open_store"]
