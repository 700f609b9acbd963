from __future__ import annotations

from tests.store.conftest import clock, open_another

__all__ = ["clock", "open_another"]
