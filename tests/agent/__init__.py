"""The durable runtime."""

from __future__ import annotations
