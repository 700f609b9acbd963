"""Which arguments are secret: by their name, or because the tool's schema says so.

Only what is shown is masked: the journal, the hash and the tool have the real value. What the tool declares is
masked as a whole. Any other name was chosen by who made the call, to whom it must be no place to hide in: under it
only texts are masked that could be a secret and nothing more, and look like one, but for what people made up
themselves. Every mask says how much is behind it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from pydantic import JsonValue

from agent.rules.json_text import dump_text

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
_USER = re.compile(r"(?P<keep>[^\s:/]{1,64}:)(?!\d+$)(?!//)(?P<secret>.+)", re.DOTALL)
#: Also as JSON writes it.
_COMMAND = re.compile(r"\$[({]|\$IFS|[`;|&<>]|[^\S ]|(?<!\\)(?:\\\\)*\\[nrtu]")
#: A secret may be several words, as long as they are nothing but words, and the first tells nobody to do anything.
_WORD = re.compile(r"\w+")
_ORDER = re.compile(
    r"(?:alter|bash|create|curl|delete|docker|drop|exec|git|grant|insert|kill|kubectl|mv|reboot|revoke"
    r"|rm|select|sh|shutdown|stop|sudo|systemctl|truncate|update)",
    re.IGNORECASE,
)
#: As secrets are made: one word of some length that is neither one of a language, nor a number, nor an address.
_MADE = re.compile(r"(?=.*[A-Za-z])(?=.*[^A-Za-z])(?!.*://)(?![^@]*@[\w-]+\.\w)\S{6,}")
#: A secret that may look like anything.
_MADE_UP = re.compile(r"pass|pwd", re.IGNORECASE)
#: What precedes a secret in a header.
_SCHEME = re.compile(r"(?P<keep>(?:bearer|basic|token|digest)\s+)(?P<secret>\S+)", re.IGNORECASE)
#: Below a secret's name: these are it, whatever else stands beside them.
_ITSELF = frozenset({"value", "values", "key", "keys", "data", "pass", "pwd"})
#: Of several, by their own names.
_SEVERAL = re.compile(r"(?<!credential)s$", re.IGNORECASE)
#: What is nested deeper is left to what masks it as text.
_LOOKED_INTO = 100


def is_secret_name(name: str) -> bool:
    """Does an argument of this name hold a secret, whatever it looks like?"""
    return _SECRET_NAME.search(name) is not None


def may_hide_a_command(text: str) -> bool:
    """Could more happen by it than that a secret is used? Then no mask may stand in its place: who
    decides has to see it."""
    if _COMMAND.search(text):
        return True
    words = text.strip("\\'\" ").split()
    if len(words) < 2:
        return False
    return _ORDER.fullmatch(words[0]) is not None or not all(map(_WORD.fullmatch, words))


def masked(value: JsonValue) -> str:
    """What stands in place of a secret."""
    size = len(value if isinstance(value, str) else dump_text(value))
    return mask_of(size)


def mask_of(size: int) -> str:
    """In place of so many characters."""
    return f"{MASK}({size:,} character{'' if size == 1 else 's'})"


def hide_secrets(args: Mapping[str, JsonValue], schema: Mapping[str, Any]) -> dict[str, JsonValue]:
    """The arguments with a mask in place of each secret, at any depth: of what is called like one, of
    what the schema says is one, as it does of ``SecretStr``, and of what follows ``--password`` in a list.
    Lists and objects under such a name keep their form; where the schema does not name it, only what is a
    text and could be nothing more is masked."""
    return _hidden_parts(args, (schema,), schema, _LOOKED_INTO)


def _hidden_parts(
    value: Mapping[str, JsonValue],
    declared: Sequence[Mapping[str, Any]],
    schema: Mapping[str, Any],
    left: int,
) -> dict[str, JsonValue]:
    return {
        name: _hidden_part(name, one, declared, schema, left - 1) for name, one in value.items()
    }


def _hidden_part(
    name: str,
    value: JsonValue,
    within: Sequence[Mapping[str, Any]],
    schema: Mapping[str, Any],
    left: int,
) -> JsonValue:
    declared = _parts(within, name, schema)
    is_count = _COUNTS.search(name) is not None and isinstance(value, int | float)
    if not is_secret_name(name) or is_count:
        return _hidden(value, declared, schema, left)
    if _names(within, name):
        return _all_hidden(value, declared, schema, left)
    mask = _text_if_no_more if _MADE_UP.search(name) else _made_if_no_more
    hidden = _hidden(value, declared, schema, left)
    return _hidden_if_no_more(hidden, mask, of_several=bool(_SEVERAL.search(name)))


def _all_hidden(
    value: JsonValue, declared: Sequence[Mapping[str, Any]], schema: Mapping[str, Any], left: int
) -> JsonValue:
    """Of what the tool itself calls a secret; not what is under further names that it does not know."""
    if not _is_something(value):
        return value
    if isinstance(value, dict) and left:
        return {
            name: _all_hidden(one, _parts(declared, name, schema), schema, left - 1)
            if _names(declared, name) or _is_any_secret(_parts(declared, name, schema))
            else _each_if_no_more(one, left - 1)
            for name, one in value.items()
        }
    if isinstance(value, list) and left:
        return [
            _all_hidden(one, _items(declared, place, schema), schema, left - 1)
            for place, one in enumerate(value)
        ]
    return masked(value)


def _each_if_no_more(value: JsonValue, left: int) -> JsonValue:
    """At any depth, as the tool calls all of it secret."""
    if isinstance(value, dict) and left:
        return {name: _each_if_no_more(one, left - 1) for name, one in value.items()}
    if isinstance(value, list) and left:
        return [_each_if_no_more(one, left - 1) for one in value]
    return _text_if_no_more(value)


def _hidden_if_no_more(
    value: JsonValue, mask: Callable[[JsonValue], JsonValue], *, of_several: bool
) -> JsonValue:
    """Under a secret's name that the tool does not know: a text, those of a list, and in an object what is called
    like it."""
    if isinstance(value, dict):
        return {
            name: _each(one, mask) if of_several or name.lower() in _ITSELF else one
            for name, one in value.items()
        }
    return _each(value, mask)


def _each(value: JsonValue, mask: Callable[[JsonValue], JsonValue]) -> JsonValue:
    return [mask(one) for one in value] if isinstance(value, list) else mask(value)


def _made_if_no_more(value: JsonValue) -> JsonValue:
    """What the tool does not call a secret has to look like one, too."""
    is_one = isinstance(value, str) and (_SCHEME.fullmatch(value) or _MADE.fullmatch(value))
    return _text_if_no_more(value) if is_one else value


def _text_if_no_more(value: JsonValue) -> JsonValue:
    if not isinstance(value, str) or not value:
        return value
    if found := _SCHEME.fullmatch(value):
        is_more = may_hide_a_command(found["secret"])
        return value if is_more else f"{found['keep']}{masked(found['secret'])}"
    return value if may_hide_a_command(value) else masked(value)


def _hidden(
    value: JsonValue, declared: Sequence[Mapping[str, Any]], schema: Mapping[str, Any], left: int
) -> JsonValue:
    if _is_any_secret(declared) and _is_something(value):
        return masked(value)
    if not left:
        return value
    if isinstance(value, dict):
        return _hidden_parts(value, declared, schema, left)
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
        return f"{found['keep']}{masked(found['secret'])}"
    is_value = _SECRET_OPTION.fullmatch(before) and item and not item.startswith("-")
    return masked(item) if is_value else item


def _names(declared: Sequence[Mapping[str, Any]], name: str) -> bool:
    """Does the tool itself know a part of this name?"""
    return any(name in (one.get("properties") or {}) for one in declared)


def _is_any_secret(declared: Sequence[Mapping[str, Any]]) -> bool:
    return any(map(_is_secret, declared))


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
