"""Which schemas are judged: none that refers elsewhere, to itself, or that nobody could get to the end of."""

from __future__ import annotations

from typing import Any

import pytest

from agent.tools.mcp.arguments import Arguments
from agent.tools.mcp.schemas import NotJudged, check_schema

TEXT = {"type": "string"}


def of(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def doubled(times: int) -> dict[str, Any]:
    """Small to read, and twice as much to go over with each step."""
    steps = {
        f"d{n}": {"anyOf": [{"$ref": f"#/$defs/d{n + 1}"}, {"$ref": f"#/$defs/d{n + 1}"}]}
        for n in range(times)
    }
    return {**of(a={"$ref": "#/$defs/d0"}), "$defs": {**steps, f"d{times}": TEXT}}


def deep(levels: int) -> dict[str, Any]:
    schema: dict[str, Any] = TEXT
    for _ in range(levels):
        schema = {"type": "array", "items": schema}
    return of(a=schema)


def chained(steps: int, **each: Any) -> dict[str, Any]:
    """A part that refers to the next one, and so on; none of them stands deep in the text."""
    parts = {f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}], **each} for n in range(steps)}
    return {**of(a={"$ref": "#/$defs/d0"}), "$defs": {**parts, f"d{steps}": TEXT}}


NODE = {"$ref": "#/$defs/node"}
REFUSED = {
    "no object": ({"type": "array"}, "describes no object"),
    "no type": ({"properties": {}}, "describes no object"),
    "remote": (of(a={"$ref": "https://example.com/a.json"}), "refers to what stands elsewhere"),
    "a file": (of(a={"$ref": "other.json#/a"}), "refers to what stands elsewhere"),
    "no reference": (of(a={"$ref": 3}), "refers to what stands elsewhere"),
    "nowhere": (of(a={"$ref": "#/$defs/b"}), "refers to what is not there"),
    "by a name": (of(a={"$ref": "#b"}), "refers to a place by a name"),
    "itself": (of(a={"$ref": "#"}), "refers to itself"),
    "in a circle": (
        {**of(a=NODE), "$defs": {"node": of(next={"anyOf": [NODE, {"type": "null"}]})}},
        "refers to itself (#/$defs/node)",
    ),
    "dynamic": (of(a={"$dynamicRef": "#x"}), "uses $dynamicRef"),
    "an address within": (of(a={"$id": "https://example.com/", **TEXT}), "an address of its own"),
    "names by pattern": (
        {**of(), "patternProperties": {"(a+)+$": TEXT}},
        "names of arguments by patterns",
    ),
    "huge": (of(a={**TEXT, "description": "x" * 100_000}), "more than 100,000 characters"),
    "deep": (deep(60), "nested more than 40 deep"),
    "many": (doubled(30), "more than 10,000 parts"),
    "a long way": (chained(1_500), "more than 100 deep"),
    "each goes over the next again": (
        chained(30, unevaluatedProperties=False),
        "more than 10,000 parts",
    ),
    "a list of many choices": (of(a={"enum": list(range(10_001))}), "more than 10,000 parts"),
    "the oldest form": (
        {"$schema": "http://json-schema.org/draft-03/schema#", **of(a={"extends": [TEXT, TEXT]})},
        "the oldest form",
    ),
    "no properties": ({"type": "object", "properties": [1]}, "its properties are none"),
    "a form that has no name": ({"$schema": [5], **of()}, "no JSON schema"),
    "what is no schema": (
        {**of(a={"$ref": "#/required"}), "required": ["a"]},
        "refers to what is no schema",
    ),
    "a name to hide in": (of(**{"a\nb": TEXT}), "whose name can't be shown"),
    "no schema": (of(a={"type": "text"}), "no JSON schema"),
    "a limit that is none": (of(a={"type": "number", "minimum": "one"}), "no JSON schema"),
}


@pytest.mark.parametrize(("schema", "why"), REFUSED.values(), ids=REFUSED.keys())
def test_what_cant_be_judged_is_refused_at_once(schema: dict[str, Any], why: str) -> None:
    with pytest.raises(NotJudged) as refused:
        Arguments(schema)
    assert why in str(refused.value)


TAKEN = {
    "nothing": {"type": "object"},
    "definitions": {**of(a={"$ref": "#/definitions/t"}), "definitions": {"t": TEXT}},
    "names that are words of schemas": of(**{"$ref": TEXT, "$id": TEXT, "id": TEXT, "items": TEXT}),
    "an address of the whole": {"$id": "https://example.com/a", **of(a=TEXT)},
    "an older form": {"$schema": "http://json-schema.org/draft-07/schema#", **of(a=TEXT)},
    "twice the same": {
        **of(a={"$ref": "#/$defs/t"}, b={"$ref": "#/$defs/t"}),
        "$defs": {"t": TEXT},
    },
    "a value that looks like a reference": of(a={"const": {"$ref": "https://example.com"}}),
    "several levels": deep(10),
    "several references": chained(20),
    "what others have not seen": chained(3, unevaluatedProperties=False),
}


@pytest.mark.parametrize("schema", TAKEN.values(), ids=TAKEN.keys())
def test_what_servers_really_say_is_taken(schema: dict[str, Any]) -> None:
    check_schema(schema)
    Arguments(schema)
