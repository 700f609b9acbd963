"""Does a value fit Slack's published types?

Only the words of JSON Schema that ``schema.json`` uses are known here; any other is an error, so that a newer
schema is not taken for looser than it is.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, Literal

_SCHEMA: Final[dict[str, Any]] = json.loads(
    (Path(__file__).parent / "schema.json").read_text(encoding="utf-8")
)
_KNOWN: Final = frozenset(
    [
        "$comment",
        "$ref",
        "additionalProperties",
        "anyOf",
        "const",
        "enum",
        "items",
        "properties",
        "required",
        "type",
    ]
)
_TYPES: Final[dict[str, type | tuple[type, ...]]] = {
    "array": list,
    "boolean": bool,
    "number": (int, float),
    "object": dict,
    "string": str,
}


def misfits(value: Any, kind: Literal["message", "modal"]) -> list[str]:
    """What is wrong with a message's blocks, or with a modal, each with where it is."""
    sent = _SCHEMA["definitions"]["Sent"]["properties"][kind]
    return list(_misfits(value, sent, kind))


def _misfits(value: Any, schema: dict[str, Any], at: str) -> Iterator[str]:
    assert schema.keys() <= _KNOWN, f"{at}: {schema.keys() - _KNOWN}"
    if "$ref" in schema:
        name = schema["$ref"].removeprefix("#/definitions/")
        yield from _misfits(value, _SCHEMA["definitions"][name], at)
    if "anyOf" in schema:
        yield from _nearest(value, schema["anyOf"], at)
    if "const" in schema and not _same(value, schema["const"]):
        yield f"{at}: {value!r} is not {schema['const']!r}"
    if "enum" in schema and not any(_same(value, one) for one in schema["enum"]):
        yield f"{at}: {value!r} is not one of {schema['enum']}"
    if "type" in schema and not _is_of(value, schema["type"]):
        yield f"{at}: {value!r} is not of type {schema['type']}"
    elif isinstance(value, dict):
        yield from _misfits_inside(value, schema, at)
    elif isinstance(value, list) and isinstance(schema.get("items"), dict):
        for index, item in enumerate(value):
            yield from _misfits(item, schema["items"], f"{at}[{index}]")


def _misfits_inside(value: dict[str, Any], schema: dict[str, Any], at: str) -> Iterator[str]:
    properties, others = schema.get("properties", {}), schema.get("additionalProperties", True)
    for name in schema.get("required", ()):
        if name not in value:
            yield f"{at}: no {name}"
    for name, inner in value.items():
        if name in properties:
            yield from _misfits(inner, properties[name], f"{at}.{name}")
        elif others is False:
            yield f"{at}: {name} is not known"
        elif isinstance(others, dict):
            yield from _misfits(inner, others, f"{at}.{name}")


def _nearest(value: Any, branches: list[dict[str, Any]], at: str) -> list[str]:
    """None where one branch fits; else what is wrong by the one that fits best, which is that of its own
    ``type`` if there is one."""
    found: list[list[str]] = []
    for branch in sorted(branches, key=lambda one: not _may_be(value, one)):
        found.append(list(_misfits(value, branch, at)))
        if not found[-1]:
            return []
    wrong_type = f"{at}.type: "
    return min(found, key=lambda said: (any(one.startswith(wrong_type) for one in said), len(said)))


def _may_be(value: Any, branch: dict[str, Any]) -> bool:
    """Whether its ``type`` is the branch's own: most often that one fits, and no other need be tried."""
    while "$ref" in branch:
        branch = _SCHEMA["definitions"][branch["$ref"].removeprefix("#/definitions/")]
    own = branch.get("properties", {}).get("type", {}).get("const")
    return isinstance(value, dict) and own is not None and value.get("type") == own


def _is_of(value: Any, named: str | list[str]) -> bool:
    names = [named] if isinstance(named, str) else named
    return any(
        isinstance(value, _TYPES[name]) and (name == "boolean" or not isinstance(value, bool))
        for name in names
    )


def _same(one: Any, other: Any) -> bool:
    return bool(one == other) and isinstance(one, bool) == isinstance(other, bool)
