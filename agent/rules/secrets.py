"""Which arguments are secret: by their name, or because the tool's schema says so.

Only what is shown is masked: the journal, the hash and the tool have the real value.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import JsonValue

MASK = "••••••••"

#: Part of a regular expression: what a secret is called.
SECRET_NAMES = (
    r"(?:token|secret|passwd|password|passphrase|api[_-]?key|access[_-]?key|private[_-]?key"
    r"|client[_-]?key|credentials?)"
)
_SECRET_NAME = re.compile(rf"(?:{SECRET_NAMES}|authorization)$", re.IGNORECASE)


def is_secret_name(name: str) -> bool:
    """Does an argument of this name hold a secret, whatever it looks like?"""
    return _SECRET_NAME.search(name) is not None


def hide_secrets(args: Mapping[str, JsonValue], schema: Mapping[str, Any]) -> dict[str, JsonValue]:
    """The arguments with a mask in place of each secret: of what is called like one, and at any depth
    of what the schema says is one, as it does of ``SecretStr``."""
    properties = schema.get("properties", {})
    return {
        name: MASK
        if is_secret_name(name) and _is_something(value)
        else _hidden(value, tuple(_branches(properties.get(name), schema)), schema)
        for name, value in args.items()
    }


def _hidden(
    value: JsonValue, declared: Sequence[Mapping[str, Any]], schema: Mapping[str, Any]
) -> JsonValue:
    if any(_is_secret(one) for one in declared) and _is_something(value):
        return MASK
    if not declared or not isinstance(value, list | dict):
        return value  # Of what nobody declares nothing is known.
    if isinstance(value, dict):
        return {
            name: _hidden(v, _parts(declared, name, schema), schema) for name, v in value.items()
        }
    return [_hidden(v, _items(declared, place, schema), schema) for place, v in enumerate(value)]


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
