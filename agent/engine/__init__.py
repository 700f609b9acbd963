"""The engine: obeys the next step of a run, and records what happened."""

from __future__ import annotations
