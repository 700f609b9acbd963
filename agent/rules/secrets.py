"""Which arguments are secret: by their name, or because the tool's schema says so.

Only what is shown is masked: the journal, the hash and the tool have the real value. What the tool declares is
masked as a whole, unless a server declares it (``FROM_SERVER``). Any other name was chosen by who made the call, to
whom it must be no place to hide in: under it only texts are masked that look like the secret that it names, and could
be nothing more (``secret_texts``). Every mask says how much is behind it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from pydantic import JsonValue

from agent.rules.json_text import dump_text
from agent.rules.references import target_of
from agent.rules.secret_names import (
    SECRET_NAMES,
    is_clear,
    is_of_count,
    is_of_several,
    is_secret_name,
)
from agent.rules.secret_texts import (
    hidden,
    is_made,
    is_surely_made,
    looks_like,
    mask_of,
    may_hide_a_command,
)

#: An option of a command line whose value is the next item.
_SECRET_OPTION = re.compile(rf"--?[\w-]{{0,40}}?{SECRET_NAMES}", re.IGNORECASE)
_USER_OPTIONS = frozenset({"-u", "--user", "--proxy-user"})
_USER = re.compile(r"(?P<keep>[^\s:/]{1,64}:)(?!\d+$)(?!//)(?P<secret>.+)", re.DOTALL)
#: Below a secret's name: these are it, whatever else stands beside them.
_ITSELF = frozenset({"value", "values", "key", "keys", "data", "pass", "pwd"})
#: Of a name and its value, as variables and headers are listed.
_ITS_NAME = frozenset({"name", "key", "field", "header", "variable", "parameter", "param", "env"})
_ITS_VALUE = frozenset({"value", "values", "val", "content", "data"})
_ONE_NAME = re.compile(r"[^\s]{1,100}")
#: What is nested deeper is left to what masks it as text.
_LOOKED_INTO = 100

#: What a tool has at the root of its schema if a server wrote that: neither that something is a secret nor what it is
#: called may be believed, for whoever decides is to see what the server is told.
FROM_SERVER = {"writeOnly": False}

#: Does a text look like a secret?
Judge = Callable[[str], bool]


def hide_secrets(args: Mapping[str, JsonValue], schema: Mapping[str, Any]) -> dict[str, JsonValue]:
    """The arguments with a mask in place of each secret, at any depth: of what is called like one, of
    what the schema says is one, as it does of ``SecretStr``, and of what follows ``--password`` in a list.
    Lists and objects under such a name keep their form; where the schema does not name it, only what is a
    text and could be nothing more is masked, and so it is in the whole of a schema with ``FROM_SERVER``."""
    return _hidden_parts(args, (schema,), schema, _LOOKED_INTO)


def _hidden_parts(
    value: Mapping[str, JsonValue],
    declared: Sequence[Mapping[str, Any]],
    schema: Mapping[str, Any],
    left: int,
) -> dict[str, JsonValue]:
    parts = {
        name: _hidden_part(name, one, declared, schema, left - 1) for name, one in value.items()
    }
    judge = next(
        (
            judge
            for name in parts
            if name.lower() in _ITS_NAME and (judge := _judge_of(parts[name]))
        ),
        None,
    )
    if judge is None:
        return parts
    return {
        name: _hidden_below(one, judge, left - 1) if name.lower() in _ITS_VALUE else one
        for name, one in parts.items()
    }


def _judge_of(name: JsonValue) -> Judge | None:
    """Of what stands beside this, if it is a secret's name; it may be a form's field, and what is said of it."""
    if not isinstance(name, str) or not _ONE_NAME.fullmatch(name) or not is_secret_name(name):
        return None
    return is_made if is_clear(name) else is_surely_made


def _hidden_part(
    name: str,
    value: JsonValue,
    within: Sequence[Mapping[str, Any]],
    schema: Mapping[str, Any],
    left: int,
) -> JsonValue:
    declared = _parts(within, name, schema)
    is_count = is_of_count(name) and isinstance(value, int | float)
    if not is_secret_name(name) or is_count:
        return _hidden(value, declared, schema, left)
    if _names(within, name) and not _is_from_server(schema):
        return _all_hidden(value, declared, schema, left)
    below = _hidden(value, declared, schema, left)
    return _hidden_below(below, partial(looks_like, name), left, of_several=is_of_several(name))


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
    return _masked(value)


def _each_if_no_more(value: JsonValue, left: int) -> JsonValue:
    """At any depth, as the tool calls all of it secret."""
    if isinstance(value, dict) and left:
        return {name: _each_if_no_more(one, left - 1) for name, one in value.items()}
    if isinstance(value, list) and left:
        return [_each_if_no_more(one, left - 1) for one in value]
    return hidden(value) if isinstance(value, str) else value


def _hidden_below(
    value: JsonValue, judge: Judge, left: int, *, of_several: bool = False
) -> JsonValue:
    """What stands under a secret's name that the tool does not know, and looks like one; under a further name, if that
    does not say more, what looks like nothing else."""
    if isinstance(value, dict) and left:
        return {
            name: _hidden_below(
                one,
                judge if of_several or name.lower() in _ITSELF else is_surely_made,
                left - 1,
            )
            for name, one in value.items()
        }
    if isinstance(value, list) and left:
        is_one = of_several or len(value) < 2
        each = judge if is_one else partial(_is_made_and, judge)
        return [_hidden_below(one, each, left - 1, of_several=of_several) for one in value]
    return hidden(value) if isinstance(value, str) and judge(value) else value


def _is_made_and(judge: Judge, text: str) -> bool:
    """One secret is no list: what stands there may be the words of a command, each of which looks like a password."""
    words = text.split()
    return judge(text) and bool(words) and is_made(words[-1])


def _hidden(
    value: JsonValue, declared: Sequence[Mapping[str, Any]], schema: Mapping[str, Any], left: int
) -> JsonValue:
    if not _is_any_secret(declared) or not _is_something(value):
        return _hidden_within(value, declared, schema, left)
    if _is_from_server(schema):
        return _hidden_below(_hidden_within(value, declared, schema, left), is_surely_made, left)
    return _masked(value)


def _hidden_within(
    value: JsonValue, declared: Sequence[Mapping[str, Any]], schema: Mapping[str, Any], left: int
) -> JsonValue:
    if not left:
        return value
    if isinstance(value, dict):
        return _hidden_parts(value, declared, schema, left)
    if isinstance(value, list):
        items = [
            _hidden(one, _items(declared, place, schema), schema, left - 1)
            for place, one in enumerate(value)
        ]
        if len(items) == 2 and (judge := _judge_of(items[0])):
            return [items[0], _hidden_below(items[1], judge, left - 1)]
        return [items[0], *map(_hidden_behind, items, items[1:])] if items else []
    return value


def _hidden_behind(before: JsonValue, item: JsonValue) -> JsonValue:
    """An item of a command line, behind the one that says what it is."""
    if not isinstance(before, str) or not isinstance(item, str) or may_hide_a_command(item):
        return item
    if before in _USER_OPTIONS and (found := _USER.fullmatch(item)):
        return f"{found['keep']}{_masked(found['secret'])}"
    is_value = _SECRET_OPTION.fullmatch(before) and item and not item.startswith("-")
    return _masked(item) if is_value else item


def _masked(value: JsonValue) -> str:
    return mask_of(len(value if isinstance(value, str) else dump_text(value)))


def _names(declared: Sequence[Mapping[str, Any]], name: str) -> bool:
    """Does the tool itself know a part of this name?"""
    return any(name in (one.get("properties") or {}) for one in declared)


def _is_from_server(schema: Mapping[str, Any]) -> bool:
    return FROM_SERVER.items() <= schema.items()


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
        for found in _declared(one, name)
        for branch in _branches(found, schema)
    )


def _declared(within: Mapping[str, Any], name: str) -> Iterator[object]:
    """What is said of one part. Which names a pattern is for is not tried out here: all are taken for its."""
    known = within.get("properties") or {}
    yield known.get(name, within.get("additionalProperties"))
    if name not in known:
        yield from (within.get("patternProperties") or {}).values()


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
        yield from _branches(target_of(ref, schema), schema, left - 1)
    for key in ("anyOf", "oneOf", "allOf"):
        for branch in declared.get(key) or ():
            yield from _branches(branch, schema, left - 1)
