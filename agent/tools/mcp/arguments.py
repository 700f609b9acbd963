"""A call's arguments against the JSON schema of a server's tool, with a sentence for each field. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal, InvalidOperation
from itertools import islice
from typing import Any

from jsonschema import Draft3Validator, Draft202012Validator
from jsonschema.exceptions import ValidationError
from jsonschema.validators import extend, validator_for
from pydantic import JsonValue, RootModel
from referencing import Registry

from agent.rules.json_text import dump_text
from agent.rules.judgement import InvalidCall
from agent.tools.mcp.keywords import JUDGES, TooMuch, Work
from agent.tools.mcp.schemas import NotJudged, check_schema
from agent.tools.writing_down import why_no_canonical_form

#: More would tell nobody more.
_ERRORS_LIMIT = 50
_CHOICES_SHOWN = 300
_NO_ARGUMENT = "There is no such argument."
_NEEDED = "This is needed."


class JsonArguments(RootModel[dict[str, JsonValue]]):
    """Arguments as they are: JSON values by name."""


class Arguments:
    """What a tool's schema says of its arguments. Raises ``NotJudged`` for a schema that can't be judged."""

    def __init__(self, schema: dict[str, Any]) -> None:
        check_schema(schema)
        try:
            declared = validator_for(schema, default=Draft202012Validator)
            declared.check_schema(schema)
        except Exception as error:
            # One that is wrong in a way that nobody thought of is told by whatever breaks over it.
            raise NotJudged("it is no JSON schema") from error
        if declared is Draft3Validator:
            # Its forms are others, and are not among the parts that were counted.
            raise NotJudged("it is written in the oldest form (draft 3)")
        self._work = Work()
        judges = {**declared.VALIDATORS, **JUDGES}
        counted = {keyword: self._work.counted(judge) for keyword, judge in judges.items()}
        judging: Any = extend
        # With a registry of its own nothing is ever fetched.
        self._validator = judging(declared, counted)(schema, registry=Registry())
        self._properties: Mapping[str, Any] = schema.get("properties") or {}

    def check(self, args: Mapping[str, JsonValue]) -> JsonArguments:
        """Raises ``InvalidCall`` with a sentence for each field."""
        plain = {name: self._number(name, value) for name, value in args.items()}
        errors: dict[str, str] = {}
        for name, value in plain.items():
            if why := why_no_canonical_form(value):
                errors[name] = why
        if not errors:
            for name, words in self._what_does_not_fit(plain):
                errors.setdefault(name, words)
        if errors:
            raise InvalidCall(errors)
        return JsonArguments(plain)

    def _what_does_not_fit(self, plain: Mapping[str, JsonValue]) -> Iterator[tuple[str, str]]:
        self._work.begin()
        try:
            for error in islice(self._validator.iter_errors(plain), _ERRORS_LIMIT):
                yield from _told(error)
        except TooMuch:
            yield "arguments", "They are too many to be judged by what the server says of them."
        except Exception:
            # The schema is another's, and whatever breaks over it is no fault of the run's.
            yield "arguments", "They can't be judged by what the server says of them."

    def _number(self, name: str, value: JsonValue) -> JsonValue:
        """An amount of money that was typed is a text of digits, and this schema wants a number."""
        declared = self._properties.get(name)
        if not isinstance(value, str) or not isinstance(declared, Mapping):
            return value
        if declared.get("format") != "money" or declared.get("type") not in ("number", "integer"):
            return value
        try:
            amount = Decimal(value)
            number = int(amount) if amount == amount.to_integral_value() else float(amount)
        except (InvalidOperation, OverflowError, ValueError):
            return value
        # One that a number can't hold stays a text, and is refused as such.
        return number if Decimal(repr(number)) == amount else value


def _told(error: ValidationError) -> Iterator[tuple[str, str]]:
    """The fields that it is about, and what is wrong with each."""
    way = [str(part) for part in error.absolute_path]
    if named := list(_missing_or_more(error)):
        for name, words in named:
            yield _at([*way, name], words)
        return
    inner, words = _in_words(error)
    yield _at([*way, *inner], words)


def _at(way: list[str], words: str) -> tuple[str, str]:
    field, *inner = way or ["arguments"]
    return field, f"{'.'.join(inner)}: {words}" if inner else words


def _missing_or_more(error: ValidationError) -> Iterator[tuple[str, str]]:
    """The names that are missing, or are there and not known."""
    given: Any = error.instance
    said: Any = error.validator_value
    within: Any = error.schema
    if not isinstance(given, Mapping):
        return
    if error.validator == "required":
        yield from ((name, _NEEDED) for name in said if name not in given)
    elif error.validator in ("additionalProperties", "unevaluatedProperties") and said is False:
        known = within.get("properties") or {}
        yield from ((name, _NO_ARGUMENT) for name in given if name not in known)


_TYPES: Mapping[str, str] = {
    "number": "a number",
    "integer": "a whole number",
    "boolean": "yes or no",
    "string": "a text",
    "array": "a list",
    "object": "an object",
    "null": "nothing",
}


def _in_words(error: ValidationError) -> tuple[list[str], str]:
    """Where below it, and what is wrong there."""
    value = error.validator_value
    match error.validator:
        case "type":
            wanted = value if isinstance(value, list) else [value]
            kinds = " or ".join(_TYPES.get(str(one), str(one)) for one in wanted)
            return [], f"Enter {kinds}."
        case "enum":
            return [], f"It must be one of {_shown(value)}."
        case "const":
            return [], f"It must be {_shown(value)}."
        case "anyOf" | "oneOf":
            return _of_only_branch(error)
        case _:
            template = _WORDS.get(str(error.validator), "It does not fit.")
            return [], template.format(value=value)


_WORDS: Mapping[str, str] = {
    "minimum": "It must be {value} or more.",
    "maximum": "It must be {value} or less.",
    "exclusiveMinimum": "It must be more than {value}.",
    "exclusiveMaximum": "It must be less than {value}.",
    "multipleOf": "It must be a multiple of {value}.",
    "minLength": "It must have {value} characters at least.",
    "maxLength": "It may have {value} characters.",
    "pattern": "It does not have the right form.",
    "minItems": "There must be {value} of it at least.",
    "maxItems": "There may be {value} of it.",
    "uniqueItems": "Nothing may stand there twice.",
    "minProperties": "There must be {value} parts at least.",
    "maxProperties": "There may be {value} parts.",
}


def _of_only_branch(error: ValidationError) -> tuple[list[str], str]:
    """What may be nothing or one thing is wrong as that thing is."""
    declared: Any = error.validator_value
    branches = [n for n, one in enumerate(declared) if one != {"type": "null"}]
    first = next((one for one in error.context or () if one.schema_path[0] == branches[0]), None)
    if len(branches) != 1 or first is None:
        return [], "It fits none of the forms that it may have."
    inner, words = _in_words(first)
    return [*(str(part) for part in first.relative_path), *inner], words


def _shown(value: Any) -> str:
    text = (
        ", ".join(dump_text(one) for one in value) if isinstance(value, list) else dump_text(value)
    )
    return text if len(text) <= _CHOICES_SHOWN else f"{text[:_CHOICES_SHOWN]} …"
