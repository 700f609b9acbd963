"""Older forms of events, brought up to date when they are read.

One function a step: ``(kind, version) -> fields of the next version``. What stands in the store is
never rewritten; golden journals of every released version keep these honest.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Fields = dict[str, Any]


#: No event has changed its meaning yet.
STEPS: dict[tuple[str, int], Callable[[Fields], Fields]] = {}


def version_of(fields: Fields) -> int:
    """The version that an event says it has; what is not a number is left to validation."""
    version = fields.get("version", 1)
    if type(version) is int and version >= 0:
        return version
    return int(version) if isinstance(version, int | str) and str(version).isdecimal() else 1


def upcast(fields: Fields) -> Fields:
    """Take steps until none applies."""
    while step := STEPS.get((str(fields.get("kind")), version_of(fields))):
        fields = step(fields)
    return fields
