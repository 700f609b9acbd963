"""Arguments against a server's schema: a sentence for each field, in a bounded time, by their digits."""

from __future__ import annotations

from typing import Any

import pytest

from agent.rules.judgement import InvalidCall
from agent.rules.values import Field, describe_fields
from agent.tools.mcp.arguments import Arguments
from agent.tools.writing_down import write_down

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "path": {"type": "string", "minLength": 1, "maxLength": 9},
        "count": {"type": "integer", "minimum": 1, "maximum": 5},
        "kind": {"enum": ["a", "b", 3]},
        "maybe": {"anyOf": [{"type": "number", "exclusiveMinimum": 0}, {"type": "null"}]},
        "either": {"oneOf": [{"type": "string"}, {"type": "array"}]},
        "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 2, "uniqueItems": True},
        "inner": {
            "type": "object",
            "properties": {"deep": {"type": "boolean"}},
            "required": ["deep"],
            "additionalProperties": False,
        },
        "price": {"type": "number", "multipleOf": 0.01},
        "word": {"type": "string", "pattern": "^[a-z]+$"},
        "both": {"type": ["string", "integer"]},
        "always": {"const": True},
        "money": {"type": "number", "format": "money", "x-currency": "USD"},
    },
    "required": ["path"],
    "additionalProperties": False,
}
ARGUMENTS = Arguments(SCHEMA)


WRONG: list[tuple[dict[str, Any], dict[str, str]]] = [
    ({}, {"path": "This is needed."}),
    ({"path": 3}, {"path": "Enter a text."}),
    ({"path": ""}, {"path": "It must have 1 characters at least."}),
    ({"path": "x" * 10}, {"path": "It may have 9 characters."}),
    (
        {"path": "x", "more": 1, "most": 2},
        dict.fromkeys(("more", "most"), "There is no such argument."),
    ),
    ({"path": "x", "count": 0}, {"count": "It must be 1 or more."}),
    ({"path": "x", "count": 6}, {"count": "It must be 5 or less."}),
    ({"path": "x", "count": 1.5}, {"count": "Enter a whole number."}),
    ({"path": "x", "count": True}, {"count": "Enter a whole number."}),
    ({"path": "x", "kind": "c"}, {"kind": 'It must be one of "a", "b", 3.'}),
    ({"path": "x", "maybe": 0}, {"maybe": "It must be more than 0."}),
    ({"path": "x", "maybe": "y"}, {"maybe": "Enter a number."}),
    ({"path": "x", "either": 1}, {"either": "It fits none of the forms that it may have."}),
    ({"path": "x", "tags": ["a", 2]}, {"tags": "1: Enter a text."}),
    ({"path": "x", "tags": ["a", "a"]}, {"tags": "Nothing may stand there twice."}),
    ({"path": "x", "tags": ["a", "b", "c"]}, {"tags": "There may be 2 of it."}),
    ({"path": "x", "inner": {}}, {"inner": "deep: This is needed."}),
    ({"path": "x", "inner": {"deep": True, "b": 1}}, {"inner": "b: There is no such argument."}),
    ({"path": "x", "price": 90.105}, {"price": "It must be a multiple of 0.01."}),
    ({"path": "x", "word": "No"}, {"word": "It does not have the right form."}),
    ({"path": "x", "both": []}, {"both": "Enter a text or a whole number."}),
    ({"path": "x", "always": False}, {"always": "It must be true."}),
    ({"path": "x", "money": "ninety"}, {"money": "Enter a number."}),
    # No number holds these digits: what is sent would be another amount.
    ({"path": "x", "money": "0.1000000000000000055511151231257827"}, {"money": "Enter a number."}),
    (
        {"path": "x", "count": 2**53 + 1},
        {"count": "This number is too large: at most 9,007,199,254,740,991 can be kept exactly."},
    ),
    ({"path": 1, "count": "x"}, {"path": "Enter a text.", "count": "Enter a whole number."}),
]


@pytest.mark.parametrize(("args", "told"), WRONG, ids=[str(args)[:60] for args, _ in WRONG])
def test_what_does_not_fit_is_told_at_its_field(args: dict[str, Any], told: dict[str, str]) -> None:
    with pytest.raises(InvalidCall) as wrong:
        ARGUMENTS.check(args)
    assert wrong.value.errors == told


@pytest.mark.parametrize(
    "args",
    [
        {"path": "x"},
        {"path": "x", "count": 3, "kind": 3, "maybe": None, "tags": [], "inner": {"deep": False}},
        # As binary fractions these are no multiples.
        {"path": "x", "price": 90.1},
        {"path": "x", "price": 0.07},
        {"path": "x", "either": ["a"], "both": 3, "always": True, "word": "abc"},
    ],
)
def test_what_fits_is_kept_as_it_is(args: dict[str, Any]) -> None:
    checked = ARGUMENTS.check(args)
    assert write_down(checked) == args == checked.model_dump()


@pytest.mark.parametrize(("typed", "sent"), [("90", 90), ("90.50", 90.5), ("0.1", 0.1)])
def test_an_amount_that_was_typed_is_sent_as_the_number_it_is(typed: str, sent: float) -> None:
    checked = ARGUMENTS.check({"path": "x", "money": typed})
    assert repr(checked.root["money"]) == repr(sent)


def test_a_pattern_takes_no_longer_for_a_text_that_was_made_for_it() -> None:
    slow = Arguments({"type": "object", "properties": {"a": {"pattern": "^(a+)+$"}}})
    with pytest.raises(InvalidCall):
        slow.check({"a": "a" * 50_000 + "!"})


LIST = Arguments({"type": "object", "properties": {"a": {"type": "array", "uniqueItems": True}}})


@pytest.mark.timeout(20)
def test_whether_something_stands_there_twice_takes_no_longer_for_what_has_no_order() -> None:
    many: dict[str, Any] = {"a": [{"n": n} for n in range(10_000)]}
    assert LIST.check(many).root == many


@pytest.mark.parametrize(
    ("items", "is_unique"),
    [
        ([1, True, "1", [1], {"a": 1}, None], True),
        ([1, 1.0], False),
        ([{"a": 1, "b": [2]}, {"b": [2.0], "a": 1}], False),
    ],
)
def test_what_is_the_same_value_stands_there_twice(items: list[Any], is_unique: bool) -> None:
    if is_unique:
        assert LIST.check({"a": items}).root == {"a": items}
        return
    with pytest.raises(InvalidCall, match="twice"):
        LIST.check({"a": items})


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "of_each",
    [
        {"enum": [f"choice {n}" for n in range(5_000)]},
        {"anyOf": [{"type": "array"}, {"type": "object"}, {"minimum": 1, "type": "number"}]},
    ],
    ids=["many choices", "several forms"],
)
def test_what_would_take_too_long_to_be_judged_is_refused(of_each: dict[str, Any]) -> None:
    slow = Arguments(
        {"type": "object", "properties": {"a": {"anyOf": [{"items": of_each}, {"type": "null"}]}}}
    )
    with pytest.raises(InvalidCall) as wrong:
        slow.check({"a": ["no such choice"] * 100_000})
    told = "They are too many to be judged by what the server says of them."
    assert wrong.value.errors == {"arguments": told}
    # And only that one time.
    assert slow.check({"a": None}).root == {"a": None}


def test_a_pattern_that_looks_ahead_is_left_to_the_server() -> None:
    ahead = Arguments({"type": "object", "properties": {"a": {"pattern": "^(?!x)y$"}}})
    assert ahead.check({"a": "x"}).root == {"a": "x"}


def test_many_values_are_judged_within_seconds_or_refused() -> None:
    each = {"type": "object", "properties": {"x": {"type": "integer"}}}
    many = Arguments(
        {
            "type": "object",
            "properties": {
                "once": {"type": "array", "uniqueItems": True, "items": each},
                "slow": {"type": "array", "items": {"anyOf": [{"const": n} for n in range(3_000)]}},
            },
        }
    )
    assert many.check({"once": [{"x": n} for n in range(200)]})
    with pytest.raises(InvalidCall) as twice:
        many.check({"once": [{"x": 1}, {"x": 1.0}]})
    assert twice.value.errors == {"once": "Nothing may stand there twice."}
    with pytest.raises(InvalidCall) as refused:
        many.check({"slow": [-1] * 5_000})
    assert refused.value.errors["arguments"].startswith("They are too many to be judged")


def test_a_schema_that_breaks_the_check_is_no_fault_of_the_run() -> None:
    # Where it refers to is no place for schemas, so that nobody has looked whether it is one.
    odd = Arguments(
        {"type": "object", "properties": {"a": {"$ref": "#/odd"}}, "odd": {"minimum": "x"}}
    )
    with pytest.raises(InvalidCall) as wrong:
        odd.check({"a": 1})
    assert "can't be judged" in wrong.value.errors["arguments"]


def test_without_a_limit_more_is_taken() -> None:
    assert Arguments({"type": "object"}).check({"any": [1]}).root == {"any": [1]}


def test_the_form_of_a_steer_has_an_input_for_each() -> None:
    fields = {field.name: field for field in describe_fields(SCHEMA)}
    assert {name: field.kind for name, field in fields.items()} == {
        "path": "text",
        "count": "integer",
        "kind": "choice",
        "maybe": "number",
        "either": "json",
        "tags": "json",
        "inner": "json",
        "price": "number",
        "word": "long_text",
        "both": "json",
        "always": "json",
        "money": "money",
    }
    assert fields["path"] == Field("path", "Path", "", "text", True)
