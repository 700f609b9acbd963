"""How much work the pattern of a condition's ``matches`` is: in the text of a call, which is the model's choice, and to
be made ready each time. Pure.

An estimate from how it is written. The library never goes back in a text, so that its work is the pattern times the
text; but a part that is to come a hundred times counts a hundred times, and a class of letters is made of hundreds.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

_TOKEN: Final = re.compile(
    r"""\\[pPxuU]\{[^}]*\}|\\.
    | \[\^?\]?(?:\\.|\[:\^?\w+:\]|[^\]\\])*\]
    | \((?:\?(?:P?<\w+>|[\w-]*:|[\w-]+(?=\))))?
    | \{(?P<least>\d+)(?:,(?P<most>\d*))?\}
    | .""",
    re.VERBOSE | re.DOTALL,
)
#: To make them ready, where one letter is one: as many ranges of characters are in them, in all scripts.
_WIDE: Final = {"w": 4_000, "W": 4_000, "b": 4_000, "B": 4_000, "p": 4_000, "P": 4_000}
_READIED: Final = _WIDE | {"d": 400, "D": 400, "s": 50, "S": 50}
_ANY_CHARACTER: Final = 10
_ESCAPED: Final = re.compile(r"\\(.)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class PatternCost:
    """Of each character that it is tried with, and of making it ready."""

    steps: int = 0
    readying: int = 0

    def __add__(self, other: PatternCost) -> PatternCost:
        return PatternCost(self.steps + other.steps, self.readying + other.readying)

    def times(self, count: int) -> PatternCost:
        return PatternCost(self.steps * count, self.readying * count)


NO_PATTERN: Final = PatternCost()


def cost_of(pattern: str) -> PatternCost:
    """At most so much, as far as its writing tells."""
    outer: list[PatternCost] = []
    before, last = NO_PATTERN, NO_PATTERN
    for token in _TOKEN.finditer(pattern):
        written = token[0]
        if written.startswith("(") and not written.endswith(")"):
            outer.append(before + last)
            before, last = NO_PATTERN, NO_PATTERN
        elif written == ")" and outer:
            before, last = outer.pop(), before + last
        elif token["least"] is not None:
            last = last.times(max(int(token["least"]), int(token["most"] or 0), 1))
        elif written not in "*+?|^$":
            before, last = before + last, _one(written)
    return sum(outer, before + last)


def _one(written: str) -> PatternCost:
    """A letter, or a class of them."""
    if written == ".":
        return PatternCost(1, _ANY_CHARACTER)
    readying = sum(_READIED.get(letter, 0) for letter in _ESCAPED.findall(written))
    return PatternCost(1, readying + (_ANY_CHARACTER if written.startswith("[") else 1))
