"""What a person typed for an argument: a value of its kind, or a sentence that says why not."""

from __future__ import annotations

import re
from typing import Any

import pytest
from pydantic import JsonValue

from agent.rules.typed_values import read_value
from agent.rules.values import Field


def field_of(kind: Any, *choices: JsonValue) -> Field:
    return Field("x", "X", "", kind, is_required=True, choices=choices)


@pytest.mark.parametrize("kind", ["text", "long_text", "choice"])
def test_what_a_person_typed_is_left_to_the_tools_schema(kind: str) -> None:
    assert read_value(" 90 ", field_of(kind)) == " 90 "


def test_json_that_a_person_typed_is_read() -> None:
    assert read_value('[1, {"a": null}]', field_of("json")) == [1, {"a": None}]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "expecting value, line 1, column 1"),
        ("abc", "expecting value, line 1, column 1"),
        ("[1,\n2", "expecting ',' delimiter, line 2, column 2"),
        ("NaN", "NaN is no value of JSON"),
        ("[Infinity]", "Infinity is no value of JSON"),
        ("-Infinity", "-Infinity is no value of JSON"),
        ("[1e999]", "1e999 is too large a number"),
        ("1" * 2_999, None),
        ("1" * 4_999, "a number of 4,999 digits is too large"),
        ('{"a": 1, "a": 2}', "it names a twice"),
        ('[{"a": {"b": 1, "\\u0062": 2}}]', "it names b twice"),
        ("[" * 101 + "]" * 101, "it is nested too deeply"),
        ("[" * 3_000, "it is nested too deeply"),
    ],
)
@pytest.mark.parametrize("kind", ["json", "choices"])
def test_what_is_not_json_is_told_in_a_sentence(kind: str, text: str, why: str | None) -> None:
    if why is None:
        assert read_value(text, field_of(kind)) == int(text)
        return
    with pytest.raises(ValueError, match=f"^{re.escape(f'Not JSON: {why}.')}$"):
        read_value(text, field_of(kind))


@pytest.mark.parametrize(
    ("kind", "typed", "value"),
    [
        ("integer", "4", 4),
        ("integer", " -1,200 ", -1200),
        ("integer", "4.0", 4),
        ("integer", "9" * 20, int("9" * 20)),
        ("number", "4", 4.0),
        ("number", "0.1", 0.1),
        ("boolean", "Yes", True),
        ("boolean", "false", False),
        ("boolean", "perhaps", "perhaps"),
    ],
)
def test_it_is_a_value_of_its_kind_as_a_strict_schema_wants_it(
    kind: str, typed: str, value: JsonValue
) -> None:
    read = read_value(typed, field_of(kind))
    assert (read, type(read)) == (value, type(value))


@pytest.mark.parametrize(
    ("typed", "value"),
    [
        ("4", 4),
        (" 4 ", 4),
        ("5", "5"),
        ("true", True),
        ("slow", "slow"),
        ("6", "6"),
        ("4.0", "4.0"),
    ],
)
def test_a_choice_that_is_no_text_is_chosen_by_what_it_reads_as(
    typed: str, value: JsonValue
) -> None:
    read = read_value(typed, field_of("choice", 4, "5", 5, True, "slow"))
    assert (read, type(read)) == (value, type(value))


@pytest.mark.parametrize(
    ("kind", "typed", "why"),
    [
        ("integer", "4.5", "Enter a whole number."),
        ("number", "9" * 400, "This number is too large."),
    ],
)
def test_what_is_no_value_of_its_kind_is_told_in_a_sentence(
    kind: str, typed: str, why: str
) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(why)}$"):
        read_value(typed, field_of(kind))


@pytest.mark.parametrize(
    ("typed", "value"),
    [("90", "90"), (" 90.50 ", "90.50"), ("$1,180.50", "1180.50"), ("-5", "-5"), (".5", ".5")],
)
def test_a_number_is_read_as_people_write_it(typed: str, value: str) -> None:
    assert read_value(typed, field_of("money")) == value


@pytest.mark.parametrize("kind", ["money", "number", "integer"])
@pytest.mark.parametrize(
    "typed", ["", "abc", "1e3", "٩٠", "1,5", "NaN", "inf", "0x10", "1_000", "9 0"]
)
def test_what_may_read_as_another_number_is_not_taken(typed: str, kind: str) -> None:
    with pytest.raises(ValueError, match="Enter a"):
        read_value(typed, field_of(kind))
