"""JSON text as the journal writes it."""

from __future__ import annotations

import json
import re
from typing import Any, NoReturn

from pydantic_core import to_json

_COMPACT = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def dump_text(value: object) -> str:
    """Compact, non-ASCII as it is, always valid UTF-8.

    Half a surrogate pair, which some sources put into strings, becomes a replacement character.
    """
    return whole_text(_COMPACT.encode(value))


def dump_values(values: dict[str, Any]) -> str:
    """``dump_text`` of what holds nothing but JSON's own values, in less than half the time; a number may be spelt
    otherwise (``1e-7``)."""
    try:
        data = to_json(values)
    except ValueError:
        return dump_text(values)  # half a surrogate pair, or what nobody can write
    if len(data) > _DIGITS or b"NaN" in data or b"Infinity" in data:
        return dump_text(values)  # there may be a number that nobody could read again
    return data.decode()


def dump_lines(value: object) -> str:
    """The same in lines, indented, for people."""
    return whole_text(json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False))


def load_text(text: str) -> Any:
    """The value of a text that ``dump_text`` may have written. Raises ``ValueError`` for any other: also
    for one with a number that JSON has not, or that is nested deeper than can be read."""
    try:
        return _DECODER.decode(text)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


class NotJson(ValueError):
    """The text is no JSON, read strictly; the message says why, as a clause."""


def read_strictly(text: str) -> Any:
    """The value of a text that a person or a model wrote. Raises ``NotJson``, also for NaN, an infinity and a
    name given twice, which a lenient reader would let pass."""
    try:
        return _STRICT.decode(text)
    except json.JSONDecodeError as error:
        why = f"{error.msg[0].lower()}{error.msg[1:]}, line {error.lineno}, column {error.colno}"
        raise NotJson(why) from error
    except RecursionError as error:
        raise NotJson("it is nested too deeply") from error


def depth_of(text: str) -> int:
    """How deeply a JSON text is nested, or how deeply at most, where that is little."""
    at_most = text.count("[") + text.count("{")
    if at_most <= _LITTLE:
        return at_most
    depth = deepest = 0
    for bracket in _BRACKETS.finditer(text):
        if bracket[0] in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif bracket[0] in "]}":
            depth -= 1
    return deepest


#: Strings are gone over as a whole, with the brackets in them.
_BRACKETS = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[\[\]{}]')
_LITTLE = 100


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number")


def _finite(text: str) -> float:
    number = float(text)
    return _no_number(text) if number in (float("inf"), float("-inf")) else number


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    names: dict[str, Any] = {}
    for name, value in pairs:
        if name in names:
            raise NotJson(f"it names {name} twice")
        names[name] = value
    return names


def _no_value(name: str) -> NoReturn:
    raise NotJson(f"{name} is no value of JSON")


def _number_in_range(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise NotJson(f"{text} is too large a number")
    return number


def _whole_number(text: str) -> int:
    if len(text) > _DIGITS:
        raise NotJson(f"a number of {len(text):,} digits is too large")
    return int(text)


#: Python reads no more than 4,300 at once.
_DIGITS = 4_000
_STRICT = json.JSONDecoder(
    object_pairs_hook=_unique,
    parse_constant=_no_value,
    parse_float=_number_in_range,
    parse_int=_whole_number,
)
_DECODER = json.JSONDecoder(parse_constant=_no_number, parse_float=_finite)


def whole_text(text: str) -> str:
    """The text with a replacement character in place of each half of a surrogate pair."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
