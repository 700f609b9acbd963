"""How much one call adds to a limit: exact, or not at all."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal, DecimalException
from typing import Any

from agent.rules.condition_values import readable
from agent.rules.conditions import ConditionFailed, says_of
from agent.rules.exact import EXACT
from agent.rules.rule_limit import RuleLimit
from agent.rules.values import declared_of

#: As much as a reservation holds.
_DIGITS, _PLACES = 38, 18
#: What is worked out comes as a double: so many places are right below so much.
_WORKED_OUT_PLACES, _WORKED_OUT_BELOW = Decimal("0.000001"), Decimal(1_000_000_000)


def amount_of(limit: RuleLimit, values: Mapping[str, Any]) -> Decimal:
    """Raises ``ConditionFailed`` where it can't be counted; the text says why."""
    if limit.expression is None:
        return Decimal(1)
    if limit.path:
        amount = _exactly(_at(limit.path, values), limit)
    else:
        limit.expression.must_be_cheap(values)
        amount = _worked_out(limit.expression.value({"args": readable(values)}), limit)
    if amount < 0:
        raise ConditionFailed(f"{limit.sum} is less than nothing: {amount}")
    if not _has_room(amount):
        raise ConditionFailed(f"{limit.sum} has more digits than can be counted")
    return amount


def currency_of(limit: RuleLimit, schema: Mapping[str, Any]) -> str | None:
    """Of what this tool's calls add, as its schema declares it. Raises ``ConditionFailed`` where there are
    two."""
    named = limit.expression.arguments if limit.expression else frozenset()
    found = {
        str(declared.get("x-currency", "USD")).upper()
        for name in named
        if (declared := declared_of(name, schema)).get("format") == "money"
    }
    if len(found) > 1:
        raise ConditionFailed(f"{limit.sum} adds {' and '.join(sorted(found))}")
    return next(iter(found), None)


def _at(path: tuple[str, ...], values: Mapping[str, Any]) -> Any:
    found: Any = values
    for name in path:
        if not isinstance(found, Mapping) or name not in found:
            raise ConditionFailed(says_of([".".join(path)]))
        found = found[name]
    return found


def _exactly(value: Any, limit: RuleLimit) -> Decimal:
    """A number as it was written; a text is none, but for one that is all digits, as some servers send money."""
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal | str):
        raise _no_number(limit, value)
    try:
        amount = EXACT.create_decimal(str(value))
    except DecimalException as error:
        raise _no_number(limit, value) from error
    if not amount.is_finite():
        raise _no_number(limit, value)
    return amount


def _worked_out(value: Any, limit: RuleLimit) -> Decimal:
    """By CEL, which knows no decimals: what it can't give exactly is not counted."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _no_number(limit, value)
    if isinstance(value, int):
        return Decimal(value)
    amount = Decimal(repr(value))
    if not amount.is_finite():
        raise _no_number(limit, value)
    if abs(amount) >= _WORKED_OUT_BELOW:
        raise ConditionFailed(f"{limit.sum} is too large to be worked out exactly")
    return amount.quantize(_WORKED_OUT_PLACES)


def _no_number(limit: RuleLimit, value: Any) -> ConditionFailed:
    what = "nothing" if value is None else f"of type {type(value).__name__}"
    if isinstance(value, float | Decimal):
        what = str(value)
    return ConditionFailed(f"{limit.sum} is no number but {what}")


def _has_room(amount: Decimal) -> bool:
    _, digits, exponent = amount.as_tuple()
    if not isinstance(exponent, int):
        return False
    return (
        -exponent <= _PLACES and len(digits) + exponent <= _DIGITS - _PLACES and exponent <= _DIGITS
    )
