"""Whether one condition holds wherever another does: only what can be seen at once, and is certain."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal

#: One argument against one number, and nothing else.
_COMPARISON = re.compile(
    r"\s*(?P<what>args(?:\.[A-Za-z_]\w*)+)\s*(?P<how>>=|>|<=|<|==)\s*(?P<number>-?\d+(?:\.\d+)?)\s*"
)


def implies(narrow: str, wide: str) -> bool:
    """Does ``wide`` certainly hold, or fail, of each call of which ``narrow`` holds or fails? They are the same, or
    compare the same argument with two numbers: what is over 1000 is over 100."""
    if narrow.strip() == wide.strip():
        return True
    one, other = _read(narrow), _read(wide)
    if one is None or other is None or one.what != other.what:
        return False
    return one.lies_within(other)


@dataclass(frozen=True, slots=True)
class _Comparison:
    what: str
    how: str
    number: Decimal

    def lies_within(self, other: _Comparison) -> bool:
        if other.how == "==":
            return self.how == "==" and self.number == other.number
        if self.how != "==" and self.how[0] != other.how[0]:
            return False
        beyond = self.number - other.number if other.how[0] == ">" else other.number - self.number
        # At the very number that ``other`` leaves out, ``self`` has to leave it out as well.
        return beyond > 0 or (beyond == 0 and (other.how.endswith("=") or self.how == other.how))


def _read(condition: str) -> _Comparison | None:
    found = _COMPARISON.fullmatch(condition)
    return found and _Comparison(found["what"], found["how"], Decimal(found["number"]))
