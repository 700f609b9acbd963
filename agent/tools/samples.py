"""Values that a parameter may take, made from its JSON schema."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import JsonValue

from agent.rules.references import target_of

_DEEPEST = 5
_BY_FORMAT: Mapping[str, str] = {
    "date": "2026-01-31",
    "date-time": "2026-01-31T12:30:00Z",
    "time": "12:30:00",
    "duration": "PT1H",
    "email": "somebody@example.com",
    "uri": "https://example.com/",
    "uuid": "12345678-1234-4234-8234-123456789012",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
}


def samples(declared: object, schema: Mapping[str, Any], depth: int = 0) -> Iterator[JsonValue]:
    """One or a few of each alternative. Not all of them need to fit: what a validator or a pattern wants is
    not known from here."""
    if not isinstance(declared, Mapping) or depth > _DEEPEST:
        return
    if ref := declared.get("$ref"):
        yield from samples(target_of(ref, schema), schema, depth + 1)
        return
    for branch in (*declared.get("anyOf", ()), *declared.get("oneOf", ())):
        yield from samples(branch, schema, depth + 1)
    if "const" in declared:
        yield declared["const"]
    elif "enum" in declared:
        yield from declared["enum"]
    else:
        yield from _of_type(declared, schema, depth)


def _of_type(
    declared: Mapping[str, Any], schema: Mapping[str, Any], depth: int
) -> Iterator[JsonValue]:
    match declared.get("type"):
        case "string":
            yield _BY_FORMAT.get(str(declared.get("format")), "a")
            # Of a number as text, and where so much is asked for.
            yield "1".rjust(int(declared.get("minLength", 1)), "1")
        case "integer" | "number":
            least = declared.get("minimum", declared.get("exclusiveMinimum", 0) + 1)
            yield least
        case "boolean":
            yield True
        case "array":
            yield from _lists(declared, schema, depth)
        case "object":
            yield from _objects(declared, schema, depth)


def _lists(
    declared: Mapping[str, Any], schema: Mapping[str, Any], depth: int
) -> Iterator[JsonValue]:
    firsts = [
        next(samples(one, schema, depth + 1), None) for one in declared.get("prefixItems", ())
    ]
    items = list(samples(declared.get("items"), schema, depth + 1))
    yield from ([*firsts, item] for item in items)
    yield firsts


def _objects(
    declared: Mapping[str, Any], schema: Mapping[str, Any], depth: int
) -> Iterator[JsonValue]:
    parts = {
        name: next(samples(one, schema, depth + 1), None)
        for name, one in declared.get("properties", {}).items()
    }
    others = samples(declared.get("additionalProperties"), schema, depth + 1)
    yield from ({**parts, "a": other} for other in others)
    yield {**parts}
