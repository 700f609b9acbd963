"""Tools: how an author declares them, and what a running call is told."""

from __future__ import annotations
