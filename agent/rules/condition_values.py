"""Arguments as a condition reads them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from typing import Any

from pydantic import SecretBytes, SecretStr

from agent.rules.conditions import ConditionFailed


def readable(value: Any) -> Any:
    """The same as values that CEL knows: a date or a time as ISO 8601 has it, a choice as what it stands for, a set as
    a list, a secret as what it hides (a condition tells nobody), and whatever else there is as its text. Raises
    ``ConditionFailed`` for a number with more digits than CEL would look at."""
    value = value.value if isinstance(value, Enum) else value
    match value:
        case SecretStr() | SecretBytes():
            return value.get_secret_value()
        case Decimal():
            return _compared_exactly(value)
        case None | bool() | int() | float() | str() | bytes() | datetime() | timedelta():
            return value
        case date() | time():
            return value.isoformat()
        case Mapping():
            return {_key(key): readable(one) for key, one in value.items()}
        case list() | tuple() | set() | frozenset():
            return [readable(one) for one in value]
        case _:
            return str(value)


def _compared_exactly(value: Decimal) -> Decimal:
    """CEL rounds it: 100.0000000000000000001 would be no more than 100."""
    if value.is_finite() and Decimal(repr(float(value))) != value:
        raise ConditionFailed("a number has more digits than a condition can compare")
    return value


def _key(key: Any) -> Any:
    plain = readable(key)
    return plain if isinstance(plain, bool | int | str) else str(plain)
