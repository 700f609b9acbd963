"""Scripts to start from."""

from __future__ import annotations
