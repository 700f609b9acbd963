"""Values that are others and read alike: the text ``yes`` and what is so, ``5`` the text and the number."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from agent.rules.json_text import load_text

Kind = Literal["null", "boolean", "number", "array", "object", "string"]

#: In a schema whose only alternative to nothing has taken the place of the two.
NULLABLE = "nullable"
_ALL: frozenset[Kind] = frozenset({"null", "boolean", "number", "array", "object", "string"})
#: As ``show_value`` and ``lay_out`` have them.
_IN_WORDS: Mapping[str, Kind] = {
    "none": "null",
    "yes": "boolean",
    "no": "boolean",
    "empty list": "array",
}
#: No number is longer, and what is long has to be looked at to its end.
_LOOKED_AT = 4_000


def reads_as_other(text: str, declared: Mapping[str, Any]) -> bool:
    """Does this text read like a value of another kind that may stand there as well?"""
    kinds = _kinds(declared)
    others = kinds - {"string"}
    # Where none may stand there, a text is how something else is written, such as an amount.
    kind = _read(text) if others and "string" in kinds else None
    # In quotes is what would be another value without them.
    return kind is not None and (kind in others or kind == "string")


def may_only_be_list(declared: Mapping[str, Any]) -> bool:
    """Is it certain that a list is meant, also where only its items are shown?"""
    return _kinds(declared) <= {"array", "null"}


def _kinds(declared: Mapping[str, Any]) -> frozenset[Kind]:
    """What may stand there; all, where nobody says."""
    more: frozenset[Kind] = frozenset({"null"} if declared.get(NULLABLE) else ())
    if "enum" in declared or "const" in declared:
        chosen = declared.get("enum", [declared.get("const")])
        return more | {_kind_of(one) for one in chosen}
    if branches := _without_decimals([*declared.get("anyOf", ()), *declared.get("oneOf", ())]):
        return more.union(*(_kinds(one) if isinstance(one, Mapping) else _ALL for one in branches))
    named = declared.get("type")
    types = [named] if isinstance(named, str) else named
    if not isinstance(types, list):
        return _ALL
    return more | {kind for one in types if (kind := _NUMBERS.get(one, one)) in _ALL}


def _without_decimals(branches: list[Any]) -> list[Any]:
    """A ``Decimal`` is declared as a number or a text: both are the same value, which is written as digits. Of a
    ``float`` beside a text, which is declared alike, no more is known."""
    types = [one.get("type") if isinstance(one, Mapping) else None for one in branches]
    if "string" not in types:
        return branches
    return [one for one, type in zip(branches, types, strict=True) if type != "number"]


_NUMBERS: Mapping[str, Kind] = {"integer": "number"}


def _read(text: str) -> Kind | None:
    """What it reads like; None for a text that reads like nothing but itself."""
    if text in _IN_WORDS:
        return _IN_WORDS[text]
    # What has parts, or is in quotes, or is a number.
    if not text or text[0] not in '[{"-0123456789':
        return None
    if text[0] in "[{":
        return "array" if text[0] == "[" else "object"
    if len(text) > _LOOKED_AT:
        return None
    try:
        return _kind_of(load_text(text))
    except ValueError:
        return None


def _kind_of(value: object) -> Kind:
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int() | float():
            return "number"
        case str():
            return "string"
        case list():
            return "array"
        case _:
            return "object"
