"""Which schemas of arguments are judged here at all. Pure.

A schema comes from somebody else's program. Nothing that it refers to is fetched, and no validation of it may go on
without end; what can't be told to do neither is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import unquote

from agent.rules.json_text import depth_of, dump_text

#: In characters of its JSON.
SIZE_LIMIT = 100_000
DEPTH_LIMIT = 40
#: Parts, each counted as often as it would be gone over: with each reference to it, and with each part around it that
#: wants to know what the parts within have seen.
PARTS_LIMIT = 10_000
#: Parts within parts, behind references as well.
WAY_LIMIT = 100

_MAPS = ("properties", "dependentSchemas", "dependencies")
_LISTS = ("allOf", "anyOf", "oneOf", "prefixItems", "items")
_SINGLE = (
    *("items", "additionalItems", "unevaluatedItems", "contains", "additionalProperties"),
    *("unevaluatedProperties", "propertyNames", "not", "if", "then", "else"),
)
_SEEING = ("unevaluatedItems", "unevaluatedProperties")
#: Each such part goes over what is within again, twice and more.
_SEEN_AGAIN = 3
#: What refers to whatever stands where it is used, or names places beside the paths.
_MOVING = ("$dynamicRef", "$recursiveRef", "$dynamicAnchor", "$recursiveAnchor", "$anchor")
_NAMED = re.compile(r"[^\x00-\x1f\x7f]{1,200}")


class NotJudged(ValueError):
    """The schema can't be judged; the message says why, as a clause."""


def check_schema(schema: Mapping[str, Any]) -> None:
    """Raises ``NotJudged``."""
    try:
        text = dump_text(schema)
    except (ValueError, TypeError, RecursionError) as error:
        raise NotJudged("it is no JSON") from error
    if len(text) > SIZE_LIMIT:
        raise NotJudged(f"it has more than {SIZE_LIMIT:,} characters")
    if depth_of(text) > DEPTH_LIMIT and _depth(schema) > DEPTH_LIMIT:
        raise NotJudged(f"it is nested more than {DEPTH_LIMIT} deep")
    if schema.get("type") != "object":
        raise NotJudged("it describes no object")
    properties = schema.get("properties", {})
    if not isinstance(properties, Mapping):
        raise NotJudged("its properties are none")
    if not all(map(_NAMED.fullmatch, properties)):
        raise NotJudged("it has an argument whose name can't be shown")
    total = 0
    for count in _parts(schema, schema, _Way()):
        total += count
        if total > PARTS_LIMIT:
            raise NotJudged(f"it has more than {PARTS_LIMIT:,} parts")


def _depth(value: Any) -> int:
    inner = value.values() if isinstance(value, Mapping) else value
    return 1 + max(map(_depth, inner), default=0) if isinstance(value, Mapping | list) else 0


@dataclass(frozen=True, slots=True)
class _Way:
    """How a part was come to."""

    refs: tuple[str, ...] = ()
    length: int = 0
    #: How often it is gone over.
    times: int = 1


def _parts(part: Any, schema: Mapping[str, Any], way: _Way) -> Iterator[int]:
    """For each part, behind every reference: how often it is gone over."""
    if way.length > WAY_LIMIT:
        raise NotJudged(f"its parts are more than {WAY_LIMIT} deep, with what they refer to")
    yield way.times
    if not isinstance(part, Mapping):
        return
    if part is not schema and ("$id" in part or ("id" in part and isinstance(part["id"], str))):
        raise NotJudged("a part of it has an address of its own ($id)")
    for key in _MOVING:
        if key in part:
            raise NotJudged(f"it uses {key}")
    if "patternProperties" in part:
        raise NotJudged("it knows names of arguments by patterns alone (patternProperties)")
    if isinstance(choices := part.get("enum"), list):
        yield way.times * len(choices)
    again = _SEEN_AGAIN if any(key in part for key in _SEEING) else 1
    below = replace(way, length=way.length + 1, times=way.times * again)
    if "$ref" in part:
        ref = part["$ref"]
        target = _target(ref, schema)
        if ref in way.refs:
            raise NotJudged(f"it refers to itself ({ref})")
        yield from _parts(target, schema, replace(below, refs=(*way.refs, ref)))
    for inner in _inner(part):
        yield from _parts(inner, schema, below)


def _inner(part: Mapping[str, Any]) -> Iterator[Any]:
    for key in _MAPS:
        if isinstance(found := part.get(key), Mapping):
            yield from found.values()
    for key in _LISTS:
        if isinstance(found := part.get(key), list):
            yield from found
    for key in _SINGLE:
        if isinstance(found := part.get(key), Mapping):
            yield found


def _target(ref: object, schema: Mapping[str, Any]) -> Any:
    if not isinstance(ref, str) or not ref.startswith("#"):
        raise NotJudged(f"it refers to what stands elsewhere ({str(ref)[:100]})")
    if ref == "#":
        raise NotJudged("it refers to itself (#)")
    if not ref.startswith("#/"):
        raise NotJudged(f"it refers to a place by a name ({ref[:100]})")
    target: Any = schema
    for step in ref.removeprefix("#/").split("/"):
        name = unquote(step).replace("~1", "/").replace("~0", "~")
        if isinstance(target, list) and name.isdecimal() and int(name) < len(target):
            target = target[int(name)]
        elif isinstance(target, Mapping) and name in target:
            target = target[name]
        else:
            raise NotJudged(f"it refers to what is not there ({ref[:100]})")
    if not isinstance(target, Mapping | bool):
        raise NotJudged(f"it refers to what is no schema ({ref[:100]})")
    return target
