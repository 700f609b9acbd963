"""How long something took, in words."""

from __future__ import annotations

from datetime import timedelta


def duration(span: timedelta) -> str:
    """As people say it, about."""
    seconds = max(span.total_seconds(), 0.0)
    if seconds < 0.1:
        return "under 0.1 s"
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < 120:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    if minutes < 120:
        return f"{minutes} min"
    hours = round(minutes / 60)
    return f"{hours} h" if hours < 48 else f"{round(hours / 24)} days"
