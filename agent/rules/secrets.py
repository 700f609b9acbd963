"""Which arguments are secret: by their name, or because the tool's schema says so.

Only what is shown is masked: the journal, the hash and the tool have the real value.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import JsonValue

MASK = "••••••••"

#: Part of a regular expression: what a secret is called. What counts tokens has a number.
SECRET_NAMES = (
    r"(?:token|tokens(?!\\?['\"]?\s*[:=\s]\s*\d+(?!\w))|secrets?|passwd|passwords?|passphrases?"
    r"|(?:api|access|private|client|secret)[_-]?keys?|credentials?"
    r"|(?<=[_-])(?:pass|pwd)|(?-i:(?<![A-Za-z])pwd))"
    r"(?:[_-]?(?:[0-9]{1,3}|new|old|current|again|repeat|confirm|confirmation))?"
)
_SECRET_NAME = re.compile(rf"(?:{SECRET_NAMES}|authorization|cookies?)$", re.IGNORECASE)
_COUNTS = re.compile(r"tokens$", re.IGNORECASE)
#: An option of a command line whose value is the next item.
_SECRET_OPTION = re.compile(rf"--?[\w-]{{0,40}}?{SECRET_NAMES}", re.IGNORECASE)
_USER_OPTIONS = frozenset({"-u", "--user", "--proxy-user"})
_USER = re.compile(r"(?P<keep>[^\s:/]{1,64}:)(?!\d+$)(?!//).+", re.DOTALL)
_COMMAND = re.compile(r"\$\(|[`;|&<>\n]")
#: What is nested deeper is left to what masks it as text.
_LOOKED_INTO = 100


def is_secret_name(name: str) -> bool:
    """Does an argument of this name hold a secret, whatever it looks like?"""
    return _SECRET_NAME.search(name) is not None


def may_hide_a_command(text: str) -> bool:
    """Could more happen by it than that a secret is used? Then no mask may stand in its place: who
    decides has to see it."""
    return _COMMAND.search(text) is not None


def hide_secrets(args: Mapping[str, JsonValue], schema: Mapping[str, Any]) -> dict[str, JsonValue]:
    """The arguments with a mask in place of each secret, at any depth: of what is called like one, of
    what the schema says is one, as it does of ``SecretStr``, and of what follows ``--password`` in a list.
    Lists and objects under such a name keep their form."""
    properties = schema.get("properties", {})
    return {
        name: _hidden_part(
            name, value, tuple(_branches(properties.get(name), schema)), schema, _LOOKED_INTO
        )
        for name, value in args.items()
    }


def _hidden_part(
    name: str,
    value: JsonValue,
    declared: Sequence[Mapping[str, Any]],
    schema: Mapping[str, Any],
    left: int,
) -> JsonValue:
    is_count = _COUNTS.search(name) is not None and isinstance(value, int | float)
    if is_secret_name(name) and not is_count:
        return _all_hidden(value, left)
    return _hidden(value, declared, schema, left)


def _all_hidden(value: JsonValue, left: int) -> JsonValue:
    if not left or not _is_something(value):
        return MASK if _is_something(value) else value
    if isinstance(value, dict):
        return {name: _all_hidden(one, left - 1) for name, one in value.items()}
    if isinstance(value, list):
        return [_all_hidden(one, left - 1) for one in value]
    return MASK


def _hidden(
    value: JsonValue, declared: Sequence[Mapping[str, Any]], schema: Mapping[str, Any], left: int
) -> JsonValue:
    if any(_is_secret(one) for one in declared) and _is_something(value):
        return MASK
    if not left:
        return value
    if isinstance(value, dict):
        return {
            name: _hidden_part(name, one, _parts(declared, name, schema), schema, left - 1)
            for name, one in value.items()
        }
    if isinstance(value, list):
        items = [
            _hidden(one, _items(declared, place, schema), schema, left - 1)
            for place, one in enumerate(value)
        ]
        return [items[0], *map(_hidden_behind, items, items[1:])] if items else []
    return value


def _hidden_behind(before: JsonValue, item: JsonValue) -> JsonValue:
    """An item of a command line, behind the one that says what it is."""
    if not isinstance(before, str) or not isinstance(item, str) or may_hide_a_command(item):
        return item
    if before in _USER_OPTIONS and (found := _USER.fullmatch(item)):
        return f"{found['keep']}{MASK}"
    is_value = _SECRET_OPTION.fullmatch(before) and item and not item.startswith("-")
    return MASK if is_value else item


def _is_secret(declared: Mapping[str, Any]) -> bool:
    return declared.get("format") == "password" or declared.get("writeOnly") is True


def _is_something(value: JsonValue) -> bool:
    """That there is none is no secret, nor is whether something is so."""
    return value is not None and value != "" and not isinstance(value, bool)


def _parts(
    declared: Sequence[Mapping[str, Any]], name: str, schema: Mapping[str, Any]
) -> tuple[Mapping[str, Any], ...]:
    return tuple(
        branch
        for one in declared
        for branch in _branches(
            (one.get("properties") or {}).get(name, one.get("additionalProperties")), schema
        )
    )


def _items(
    declared: Sequence[Mapping[str, Any]], place: int, schema: Mapping[str, Any]
) -> tuple[Mapping[str, Any], ...]:
    return tuple(branch for one in declared for branch in _branches(_item(one, place), schema))


def _item(declared: Mapping[str, Any], place: int) -> object:
    first = declared.get("prefixItems") or ()
    return first[place] if place < len(first) else declared.get("items")


#: References that lead to themselves are followed so often.
_FOLLOWED = 20


def _branches(
    declared: object, schema: Mapping[str, Any], left: int = _FOLLOWED
) -> Iterator[Mapping[str, Any]]:
    """All that is declared of one place, behind references and in alternatives; ``true`` says nothing."""
    if not isinstance(declared, Mapping) or not left:
        return
    yield declared
    if ref := declared.get("$ref"):
        target = schema.get("$defs", {}).get(str(ref).rsplit("/", 1)[-1])
        yield from _branches(target, schema, left - 1)
    for key in ("anyOf", "oneOf", "allOf"):
        for branch in declared.get(key) or ():
            yield from _branches(branch, schema, left - 1)
