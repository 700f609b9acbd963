"""How a schema's keywords are judged here, where the library would need a time without bound, or compare binary
fractions. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal, InvalidOperation
from typing import Any, TypeAlias

from jsonschema.exceptions import ValidationError
from pydantic import ValidationError as PydanticError
from pydantic_core import SchemaError as PatternError
from pydantic_core import SchemaValidator, core_schema

from agent.rules.binding import digest

#: What judges a keyword: by a validator, the keyword's own value, what is given, and the part of the schema.
Judge: TypeAlias = Callable[[Any, Any, Any, Any], Iterator[ValidationError] | None]

#: Of one set of arguments: enough for some ten thousand values. A step takes up to a tenth of a millisecond.
STEPS_LIMIT = 100_000
#: So much of what is given, in characters, items or names, is a step of its own: an error quotes all of it.
_GIVEN_A_STEP = 100


class TooMuch(Exception):
    """To go on would take longer than anybody may be kept waiting."""


class Work:
    """How much may yet be done for one set of arguments. To be begun before each."""

    def __init__(self) -> None:
        self._left = 0

    def begin(self) -> None:
        self._left = STEPS_LIMIT

    def counted(self, judge: Judge) -> Judge:
        """The same, within what may be done. Raises ``TooMuch`` beyond that."""

        def judge_within(
            validator: Any, wanted: Any, given: Any, schema: Any
        ) -> Iterator[ValidationError]:
            self._left -= 1 + _length(wanted) + _length(given) // _GIVEN_A_STEP
            if self._left < 0:
                raise TooMuch
            yield from judge(validator, wanted, given, schema) or ()

        return judge_within


def _length(value: Any) -> int:
    return len(value) if isinstance(value, str | list | Mapping) else 0


_PATTERNS: dict[str, SchemaValidator | None] = {}
_PATTERNS_LIMIT = 1_000


def _pattern(_: Any, pattern: str, text: Any, __: Any) -> Iterator[ValidationError]:
    """In a time that grows with the text and no faster. A pattern that can't be judged so (one that looks ahead)
    is left to the server."""
    if not isinstance(text, str):
        return
    if pattern not in _PATTERNS:
        if len(_PATTERNS) >= _PATTERNS_LIMIT:
            _PATTERNS.clear()
        _PATTERNS[pattern] = _compiled(pattern)
    compiled = _PATTERNS[pattern]
    if compiled is None:
        return
    try:
        compiled.validate_python(text)
    except PydanticError:
        yield ValidationError("It does not have the right form.")


def _compiled(pattern: str) -> SchemaValidator | None:
    try:
        return SchemaValidator(core_schema.str_schema(pattern=pattern, regex_engine="rust-regex"))
    except PatternError:
        return None


def _multiple(_: Any, of: Any, number: Any, __: Any) -> Iterator[ValidationError]:
    """By its digits: as binary fractions 90.1 would be no multiple of 0.01."""
    if isinstance(number, bool) or not isinstance(number, int | float):
        return
    try:
        is_multiple = Decimal(repr(number)) % Decimal(repr(of)) == 0
    except InvalidOperation:  # Of more digits than can be told.
        is_multiple = False
    if not is_multiple:
        yield ValidationError("no multiple")


def _unique(_: Any, is_wanted: Any, items: Any, __: Any) -> Iterator[ValidationError]:
    """Each by its canonical form: the library compares each with each."""
    if is_wanted and isinstance(items, list) and len(set(map(digest, items))) < len(items):
        yield ValidationError("not unique")


JUDGES: Mapping[str, Judge] = {
    "pattern": _pattern,
    "multipleOf": _multiple,
    "uniqueItems": _unique,
}
