"""How much a condition may have to look at: what a call holds is the model's choice, and every run waits meanwhile."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agent.rules.pattern_cost import NO_PATTERN, PatternCost

#: So many steps; a tenth of a second or so.
STEPS_LIMIT = 250_000
#: So many steps of patterns through texts, and so much to make them ready; as long or so.
PATTERNS_LIMIT = 20_000_000
READYING_LIMIT = 500_000
#: Deeper ones the library could not take.
DEPTH_LIMIT = 100


def why_too_much(
    args: Any, steepness: int, written: int, patterns: PatternCost = NO_PATTERN
) -> str | None:
    """As a clause, why a condition of this ``steepness`` is not tried with these arguments; None: it is. ``written``:
    so many values stand in the condition itself. ``patterns``: of all that it matches with."""
    size = _measure(args)
    if size.depth > DEPTH_LIMIT:
        return f"the arguments are nested deeper than {DEPTH_LIMIT} levels"
    most = max(size.count, written)
    tries = most**steepness
    if tries > STEPS_LIMIT or patterns.readying * tries > READYING_LIMIT:
        return f"with arguments of {size.count:,} values it would take too much work"
    if patterns.steps * size.characters * most ** max(steepness - 1, 0) > PATTERNS_LIMIT:
        return f"with texts of {size.characters:,} characters its pattern would take too much work"
    return None


@dataclass(frozen=True, slots=True)
class _Size:
    count: int
    depth: int
    characters: int


def _measure(args: Any) -> _Size:
    """How many values there are, how deeply they are nested, and how much text is in them; no deeper than is of
    interest."""
    count = deepest = characters = 0
    left = [(args, 0)]
    while left:
        value, depth = left.pop()
        count, deepest = count + 1, max(deepest, depth)
        if depth > DEPTH_LIMIT:
            continue
        match value:
            case str() | bytes():
                characters += len(value)
            case Mapping():
                left += ((one, depth + 1) for one in value.values())
                characters += sum(len(str(key)) for key in value)
            case list() | tuple() | set() | frozenset():
                left += ((one, depth + 1) for one in value)
            case _:
                pass
    return _Size(count, deepest, characters)
