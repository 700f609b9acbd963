"""How much of a budget can be meant: as a limit, or as what is given beyond it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal

from agent.rules.parts import BudgetName

#: The most of each; what is larger is a slip of the hand.
MOST: Mapping[BudgetName, Decimal] = {
    "model_calls": Decimal(1_000_000),
    "tokens": Decimal(1_000_000_000_000),
    "cost_usd": Decimal(1_000_000),
    "minutes": Decimal(1_000_000),
}
#: Those of which there are no halves.
WHOLE: frozenset[BudgetName] = frozenset({"model_calls", "tokens"})
#: Decimal places: money is written with two, and prices of tokens need more.
_PLACES_OF_MONEY = 2
MOST_PLACES = 6
# ``Decimal`` takes the digits of every script, ``1_000``, ``1e3`` and ``nan``, too.
_WRITTEN = re.compile(r"[0-9]+(?:\.[0-9]{1,20})?", re.ASCII)


def read_amount(written: str) -> Decimal | None:
    """A number above nothing as people write it, ``20`` or ``1.50``; None for anything else."""
    if not _WRITTEN.fullmatch(written.strip(" ")):
        return None
    return Decimal(written.strip(" ")) or None


def is_amount(given: object) -> bool:
    """Is it a number above nothing? No fraction of binary digits: those are never quite what was meant."""
    if isinstance(given, bool) or not isinstance(given, int | Decimal):
        return False
    return Decimal(given).is_finite() and given > 0


def why_no_amount(budget: BudgetName, amount: Decimal) -> str | None:
    """Why there can't be so much of it, above nothing as it is; None where there can."""
    if amount > MOST[budget]:
        return f"Give at most {MOST[budget]:,}."
    if budget in WHOLE:
        return None if amount == amount.to_integral_value() else "Give a whole number."
    if decimal_places(amount) > MOST_PLACES:
        return f"Give at most {MOST_PLACES} decimal places."
    return None


def amount_in_digits(budget: BudgetName, amount: Decimal) -> str:
    """As it is recorded, for what ``why_no_amount`` lets pass: the same amount is the same text."""
    if budget in WHOLE:
        return f"{amount:.0f}"
    places = decimal_places(amount)
    return f"{amount:.{max(places, _PLACES_OF_MONEY) if budget == 'cost_usd' else places}f}"


def decimal_places(amount: Decimal) -> int:
    """How many decimal places it needs."""
    exponent = amount.normalize().as_tuple().exponent
    return max(0, -exponent) if isinstance(exponent, int) else 0
