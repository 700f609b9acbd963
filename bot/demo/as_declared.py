"""Words as values of a tool's parameters, by what its schema says of them. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from pydantic import JsonValue

from agent.rules.json_text import load_text
from agent.rules.references import target_of

_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?")
_YES, _NO, _NOTHING = ("yes", "true", "on"), ("no", "false", "off"), ("none", "null")
_DEEPEST = 5
#: A whole number of more is none that anything could keep.
_DIGITS = 100


def types_of(declared: object, schema: Mapping[str, Any], depth: int = 0) -> Iterator[str]:
    """What a value of it may be, in JSON's words; nothing where it may be anything."""
    if not isinstance(declared, Mapping) or depth > _DEEPEST:
        return
    if ref := declared.get("$ref"):
        yield from types_of(target_of(ref, schema), schema, depth + 1)
    for branch in (*declared.get("anyOf", ()), *declared.get("oneOf", ())):
        yield from types_of(branch, schema, depth + 1)
    named = declared.get("type", ())
    yield from (named,) if isinstance(named, str) else map(str, named)


def as_declared(word: str, declared: Mapping[str, Any], schema: Mapping[str, Any]) -> JsonValue:
    """``word`` as such a value. One that does not fit stays the text that it is: the tool says what is wrong
    with it, and nothing is guessed."""
    types = set(types_of(declared, schema))
    if "string" in types and "number" not in types and "integer" not in types:
        return _nothing(word, types)
    for read in (_number, _truth, _written_out, _list):
        value = read(word, types, declared, schema)
        if value is not None:
            return value
    return _nothing(word, types)


def _nothing(word: str, types: set[str]) -> JsonValue:
    return None if "null" in types and word.casefold() in _NOTHING else word


def _number(word: str, types: set[str], *_: object) -> JsonValue:
    plain = word.removeprefix("$").replace(",", "") if _is_grouped(word) else word.removeprefix("$")
    if not types & {"number", "integer"} or not _NUMBER.fullmatch(plain):
        return None
    if "." not in plain and len(plain) <= _DIGITS:
        return int(plain)
    number = float(plain)
    # Where no JSON number says exactly this, its digits do.
    return number if Decimal(repr(number)) == Decimal(plain) else plain


def _is_grouped(word: str) -> bool:
    return re.fullmatch(r"\$?\d{1,3}(?:,\d{3})+(?:\.\d+)?", word) is not None


def _truth(word: str, types: set[str], *_: object) -> JsonValue:
    if "boolean" not in types or word.casefold() not in (*_YES, *_NO):
        return None
    return word.casefold() in _YES


def _written_out(word: str, types: set[str], *_: object) -> JsonValue:
    """A list or an object as JSON."""
    if not types & {"array", "object"} or not word.startswith(("[", "{")):
        return None
    try:
        value: JsonValue = load_text(word)
    except ValueError:
        return None
    return value


def _list(
    word: str, types: set[str], declared: Mapping[str, Any], schema: Mapping[str, Any]
) -> JsonValue:
    """One with commas between."""
    if "array" not in types:
        return None
    items = declared.get("items")
    of_each = items if isinstance(items, Mapping) else {}
    parts = (part.strip() for part in word.split(","))
    return [as_declared(part, of_each, schema) for part in parts if part]
