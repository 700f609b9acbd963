"""Models: what answers a run's requests."""

from __future__ import annotations
