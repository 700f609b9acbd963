"""The command line, by its parts and as people use it."""

from __future__ import annotations
