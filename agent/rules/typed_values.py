"""What a person typed for an argument, as a value to be validated by the tool's schema."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Literal

from pydantic import JsonValue

from agent.rules.json_text import NotJson, depth_of, dump_text, read_strictly
from agent.rules.values import Field

#: What is nested deeper nobody could read on a card.
_DEEPEST = 100
_NUMBER = re.compile(r"[+-]?(?:[0-9]+|[0-9]{1,3}(?:,[0-9]{3})+)(?:\.[0-9]*)?|[+-]?\.[0-9]+")
_SAY_NUMBER = {
    "money": "Enter a number, such as 90 or 90.50.",
    "number": "Enter a number.",
    "integer": "Enter a whole number.",
}
_TOO_LARGE = "This number is too large."
_YES_OR_NO = {"yes": True, "true": True, "no": False, "false": False}


def read_value(text: str, field: Field) -> JsonValue:
    """The value of the kind that the field declares: a schema may want a number, and take no digits for one.

    Raises ``ValueError`` with a sentence for the person, for what can't even be read."""
    match field.kind:
        case "money" | "number" | "integer" as kind:
            return _number(_plain_number(text, kind), kind)
        case "json" | "choices":
            return _json(text)
        case "choice":
            return _choice(text, field.choices)
        case "boolean":
            return _YES_OR_NO.get(text.strip().lower(), text)
        case _:
            return text


def _json(text: str) -> JsonValue:
    try:
        if depth_of(text) > _DEEPEST:
            raise NotJson("it is nested too deeply")
        value: JsonValue = read_strictly(text)
    except NotJson as error:
        raise ValueError(f"Not JSON: {error}.") from error
    return value


def _choice(text: str, choices: tuple[JsonValue, ...]) -> JsonValue:
    """One of those that may be chosen, which need be no texts; whatever else it is, the schema says why not."""
    if text in choices:
        return text
    others = (one for one in choices if not isinstance(one, str))
    return next((one for one in others if dump_text(one) == text.strip()), text)


def _number(digits: str, kind: Literal["money", "number", "integer"]) -> JsonValue:
    """An amount of money stays a text, so that none of its digits is lost."""
    if kind == "money":
        return digits
    if kind == "number":
        number = float(digits)
        if number in (float("inf"), float("-inf")):
            raise ValueError(_TOO_LARGE)
        return number
    whole = Decimal(digits)
    if whole != whole.to_integral_value():
        raise ValueError(_SAY_NUMBER[kind])
    return int(whole)


def _plain_number(text: str, kind: str) -> str:
    """Digits as people write them: ``1e3`` or digits of another script may read as another amount
    than was meant."""
    plain = text.strip()
    if kind == "money":
        plain = plain.removeprefix("$").strip()
    if not _NUMBER.fullmatch(plain):
        raise ValueError(_SAY_NUMBER[kind])
    return plain.replace(",", "")
