"""The text of a proposed call's arguments, read strictly: what is not plainly JSON is refused."""

from __future__ import annotations

import json
from typing import Any, NoReturn

from pydantic import JsonValue


class MalformedArguments(ValueError):
    """The text is not one JSON object; the message says why."""


def parse_arguments(text: str) -> dict[str, JsonValue]:
    """Raises ``MalformedArguments`` for anything but one JSON object: also for NaN, an infinity and
    a name given twice, which a lenient reader would let pass."""
    try:
        value = json.loads(
            text, object_pairs_hook=_unique, parse_constant=_no_constant, parse_float=_finite
        )
    except MalformedArguments:
        raise
    except (ValueError, RecursionError) as error:
        raise MalformedArguments(f"The arguments are not JSON: {error}.") from error
    if not isinstance(value, dict):
        raise MalformedArguments("The arguments must be one JSON object.")
    return value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    names = dict(pairs)
    if len(names) != len(pairs):
        raise MalformedArguments("The arguments name something twice.")
    return names


def _no_constant(name: str) -> NoReturn:
    raise MalformedArguments(f"{name} is not JSON.")


def _finite(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise MalformedArguments(f"{text} is too large a number.")
    return number
