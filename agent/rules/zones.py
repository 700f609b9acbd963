"""Time zones, as whoever writes the policy names them. Pure: the database of zones comes with the program."""

from __future__ import annotations

from datetime import UTC, tzinfo
from functools import lru_cache
from zoneinfo import ZoneInfo


@lru_cache(maxsize=64)
def zone_named(name: str) -> tzinfo:
    """Of the IANA database, as ``Europe/Berlin``. Raises ``ValueError`` for what is no such name."""
    if name == "UTC":
        return UTC
    try:
        return ZoneInfo(name)
    except (KeyError, OSError, ValueError) as error:
        # Not found, a folder of the database, or no path at all.
        raise ValueError(
            f"there is no time zone {name!r} here; write one such as UTC or Europe/Berlin"
        ) from error
