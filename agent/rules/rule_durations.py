"""A length of time in a rule, as people write it: ``30s``, ``10m``, ``2h``, ``1d``."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated

from pydantic import BeforeValidator

from agent.rules.durations import read_duration


def _duration(written: object) -> object:
    """As people write it; a ``timedelta`` is what it is."""
    if isinstance(written, timedelta):
        return written
    if not isinstance(written, str):
        raise ValueError(f"{written!r} is no length of time; write one such as 30s, 10m, 2h or 1d")
    return read_duration(written)


Duration = Annotated[timedelta, BeforeValidator(_duration)]
