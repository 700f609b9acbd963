"""The hour, day, week or month that a limit counts in, by the clocks of a named zone. Pure.

A window is known by the moment at which it began, so that a day may have 23 hours or 25.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, tzinfo
from typing import Literal

Window = Literal["hour", "day", "week", "month"]

#: No zone has ever put its clocks forward or back by less.
_STEP = timedelta(minutes=15)


def begin_of(window: Window, at: datetime, zone: tzinfo) -> datetime:
    """When the window began in which ``at`` lies. Raises ``OverflowError`` at the end of time."""
    local = at.astimezone(zone)
    if window == "hour":
        # An hour that comes twice stays the first or the second of the two.
        return local.replace(minute=0, second=0, microsecond=0).astimezone(UTC)
    days_before = {"day": 0, "week": local.weekday(), "month": local.day - 1}[window]
    return _midnight(local - timedelta(days=days_before))


def end_of(window: Window, at: datetime, zone: tzinfo) -> datetime:
    """When the next one begins."""
    begin = begin_of(window, at, zone)
    if window == "hour":
        end = begin + _STEP
        while begin_of(window, end, zone) == begin:
            end += _STEP  # Half of it may be put back, or left out.
        return end
    days = {"day": 1, "week": 7, "month": 32}[window]
    local = begin.astimezone(zone) + timedelta(days=days)
    return _midnight(local.replace(day=1) if window == "month" else local)


def _midnight(local: datetime) -> datetime:
    """Of that day; where clocks jump over it, the moment at which they do."""
    return local.replace(hour=0, minute=0, second=0, microsecond=0, fold=0).astimezone(UTC)
