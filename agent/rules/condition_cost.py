"""How much a condition may have to look at: what a call holds is the model's choice, and every run waits meanwhile."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

#: So many steps; a tenth of a second or so.
STEPS_LIMIT = 250_000
#: Deeper ones the library could not take.
DEPTH_LIMIT = 100


def why_too_much(args: Any, steepness: int, written: int) -> str | None:
    """As a clause, why a condition of this ``steepness`` is not tried with these arguments; None: it is. ``written``:
    so many values stand in the condition itself."""
    count, depth = _measure(args)
    if depth > DEPTH_LIMIT:
        return f"the arguments are nested deeper than {DEPTH_LIMIT} levels"
    if max(count, written) ** steepness > STEPS_LIMIT:
        return f"with arguments of {count:,} values it would take too much work"
    return None


def _measure(args: Any) -> tuple[int, int]:
    """How many values there are, and how deeply they are nested; no deeper than is of interest."""
    count = deepest = 0
    left = [(args, 0)]
    while left:
        value, depth = left.pop()
        count, deepest = count + 1, max(deepest, depth)
        if depth > DEPTH_LIMIT:
            continue
        match value:
            case Mapping():
                left += ((one, depth + 1) for one in value.values())
            case list() | tuple() | set() | frozenset():
                left += ((one, depth + 1) for one in value)
            case _:
                pass
    return count, deepest
