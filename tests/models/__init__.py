"""Models of providers."""

from __future__ import annotations
