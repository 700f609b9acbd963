"""How an argument reads to a person, and how what they type is read."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field, JsonValue

from agent import Money
from agent.rules.values import Field as Shown
from agent.rules.values import (
    describe_fields,
    lay_out,
    read_moment,
    show_args,
    show_value,
)

DOLLARS = {"type": "number", "format": "money", "x-currency": "USD"}


@pytest.mark.parametrize(
    ("amount", "shown"),
    [
        (180, "$180.00"),
        (180.0, "$180.00"),
        ("180", "$180.00"),
        ("180.000", "$180.00"),
        (1234.5, "$1,234.50"),
        ("1.004", "$1.004"),
        ("1.005", "$1.005"),
        # Rounded, these would be as short or shorter.
        ("9.999", "$9.999"),
        ("99.995", "$99.995"),
        ("999.999", "$999.999"),
        ("-9.999", "-$9.999"),
        ("-180", "-$180.00"),
        ("0", "$0.00"),
        ("0.001", "$0.001"),
        ("1e3", "$1,000.00"),
        ("12345678901234567890123456789.12", "$12,345,678,901,234,567,890,123,456,789.12"),
        ("1.0000000000000000000000000000001", "$1.0000000000000000000000000000001"),
        ("1e6000", "USD 1E+6000"),
        ("1" + "0" * 120, "USD 1" + "0" * 120),
    ],
)
def test_money_is_shown_with_every_digit(amount: JsonValue, shown: str) -> None:
    assert show_value(amount, DOLLARS) == shown


@given(st.decimals(allow_nan=False, allow_infinity=False, places=4))
def test_money_is_never_rounded(amount: Decimal) -> None:
    shown = show_value(str(amount), DOLLARS)
    assert Decimal(shown.replace("$", "").replace(",", "").replace("USD ", "")) == amount


@pytest.mark.parametrize(
    ("currency", "shown"),
    [("EUR", "€180.50"), ("JPY", "¥180.5"), ("KWD", "KWD180.500"), ("???", "???180.50")],
)
def test_currencies_have_their_own_sign_and_digits(currency: str, shown: str) -> None:
    shown_with = show_value(180.5, {**DOLLARS, "x-currency": currency})
    assert shown_with.replace("\xa0", "") == shown


@pytest.mark.parametrize("value", ["NaN", "Infinity", "a lot", [180], {"a": 1}])
def test_what_is_no_amount_is_shown_as_it_is(value: JsonValue) -> None:
    assert "$" not in show_value(value, DOLLARS)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, "none"),
        (True, "yes"),
        (False, "no"),
        ("ORD-3300", "ORD-3300"),
        ("", ""),
        ("two\nlines", "two\nlines"),
        ("2026-11-29", "2026-11-29"),
        (1, "1"),
        (1.5, "1.5"),
        ([1, "ä"], '[1,"ä"]'),
        ({"a": None}, '{"a":null}'),
    ],
)
def test_everything_else_is_shown_as_it_is(value: JsonValue, shown: str) -> None:
    assert show_value(value) == shown


class Mixed(BaseModel):
    maybe: str | None
    any: Any
    either: int | str
    text: str
    flag: bool | str
    choice: Literal["5", 5, "slow"]
    many: str | list[str]
    names: list[str]
    kinds: list[int | str]
    exact: Decimal
    maybe_exact: Decimal | None
    exacts: list[Decimal]
    tips: list[Annotated[Decimal, Money("EUR")]]


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("maybe", {"none": None, '"none"': "none", "yes": "yes", "5": "5"}),
        ("any", {"none": None, '"none"': "none", "yes": True, '"yes"': "yes", "5": 5, '"5"': "5"}),
        ("any", {"-1.5": -1.5, '"-1.5"': "-1.5", "1-2": "1-2", "ORD-7": "ORD-7", "2026": 2026}),
        ("any", {'"\\"5\\""': '"5"', '"5': '"5', "5 a": "5 a", '"[1]"': "[1]"}),
        ("either", {"5": 5, '"5"': "5", "none": "none", "yes": "yes"}),
        ("text", {"none": "none", "yes": "yes", "5": "5", "[1]": "[1]", '"5"': '"5"'}),
        ("flag", {"yes": True, '"yes"': "yes", '"no"': "no", "none": "none", "5": "5"}),
        ("choice", {"5": 5, '"5"': "5", "slow": "slow"}),
        ("many", {"Ann, Bob": "Ann, Bob", '[\n  "Ann",\n  "Bob"\n]': ["Ann", "Bob"]}),
        ("many", {'"empty list"': "empty list", "[]": [], '"[]"': "[]"}),
        ("names", {"Ann, Bob": ["Ann", "Bob"], "5": ["5"], "empty list": []}),
        ("exact", {"1.50": "1.50"}),
        ("tips", {"€1.50, €2.00": ["1.50", 2]}),
        ("maybe_exact", {"1.50": "1.50", "none": None}),
        ("exacts", {"1.50, 2": ["1.50", "2"]}),
        ("names", {'[\n  "empty list"\n]': ["empty list"]}),
        ("kinds", {"5, 6": [5, 6], '[\n  "5",\n  5\n]': ["5", 5], "a": ["a"]}),
    ],
)
def test_what_are_two_values_never_reads_alike(name: str, values: dict[str, JsonValue]) -> None:
    schema = Mixed.model_json_schema()
    laid_out = {words: lay_out({name: v}, schema)[name] for words, v in values.items()}
    assert laid_out == {words: words for words in values}


class Speed(Enum):
    slow = "slow"
    fast = "fast"


MONEY: dict[str, JsonValue] = {"format": "money", "x-currency": "EUR"}


class Arguments(BaseModel):
    order: str = Field(max_length=40)
    text: str
    amount: Decimal = Field(json_schema_extra=MONEY)
    tip: Decimal | None = Field(
        None, json_schema_extra=MONEY, title="Extra", description="Up to you"
    )
    count: int = 1
    ratio: float = 0.5
    urgent: bool = False
    speed: Speed = Speed.slow
    maybe_speed: Speed | None = None
    size: Literal["s", "m"] | None = None
    lines: list[str] = []
    either: int | str = 1


def fields() -> dict[str, Shown]:
    return {field.name: field for field in describe_fields(Arguments.model_json_schema())}


def test_every_argument_is_described_in_the_schemas_order() -> None:
    kinds = {name: field.kind for name, field in fields().items()}
    assert list(kinds.items()) == [
        ("order", "text"),
        ("text", "long_text"),
        ("amount", "money"),
        ("tip", "money"),
        ("count", "integer"),
        ("ratio", "number"),
        ("urgent", "boolean"),
        ("speed", "choice"),
        ("maybe_speed", "choice"),
        ("size", "choice"),
        ("lines", "json"),
        ("either", "json"),
    ]


def test_a_field_has_its_title_its_hint_and_its_choices() -> None:
    tip, speed, size = (fields()[name] for name in ("tip", "maybe_speed", "size"))
    assert (tip.title, tip.hint, tip.is_required) == ("Extra", "Up to you", False)
    assert (speed.choices, size.choices) == (("slow", "fast"), ("s", "m"))
    assert fields()["order"].is_required


def test_arguments_are_shown_by_their_own_schemas() -> None:
    args: dict[str, JsonValue] = {"amount": "1.5", "tip": 2, "speed": "slow", "unknown": 3}
    shown = show_args(args, Arguments.model_json_schema())
    assert shown == {"amount": "€1.50", "tip": "€2.00", "speed": "slow", "unknown": "3"}
    assert show_args({"tip": None}, Arguments.model_json_schema()) == {"tip": "none"}
    assert show_args({"a": 1}, {}) == {"a": "1"}


LISTED = {
    "type": "object",
    "properties": {
        "names": {"type": "array", "items": {"type": "string"}},
        "amounts": {"type": "array", "items": {"$ref": "#/$defs/Amount"}},
        "day": {"anyOf": [{"type": "string", "format": "date"}, {"type": "null"}]},
        "at": {"type": "string", "format": "date-time"},
        "text": {"type": "string"},
    },
    "$defs": {"Amount": {"type": "string", "format": "money", "x-currency": "USD"}},
}


@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [
        ("names", ["Ann", "Bob"], "Ann, Bob"),
        ("names", ["Ann, Bob", "Carl"], "• Ann, Bob\n• Carl"),
        ("names", ["• Ann", "Bob"], "• • Ann\n• Bob"),
        ("names", ["x" * 80, "y" * 80], f"• {'x' * 80}\n• {'y' * 80}"),
        ("names", ["Ann\n• Bob"], '[\n  "Ann\\n• Bob"\n]'),
        ("names", ["Ann\u2028Bob"], '[\n  "Ann\u2028Bob"\n]'),
        ("names", ["", "Bob"], '[\n  "",\n  "Bob"\n]'),
        ("names", [" Ann"], '[\n  " Ann"\n]'),
        ("names", [None], "[\n  null\n]"),
        ("names", [], "empty list"),
        ("names", [1, True], "1, yes"),
        ("amounts", ["180", "1.5"], "$180.00, $1.50"),
        ("amounts", ["1800", "1.5"], "• $1,800.00\n• $1.50"),
        ("names", [["Ann"]], '[\n  [\n    "Ann"\n  ]\n]'),
        ("other", {"a": {"b": "ä"}}, '{\n  "a": {\n    "b": "ä"\n  }\n}'),
        ("day", "2026-11-30", "Mon 30 Nov 2026"),
        ("day", "2026-02-30", "2026-02-30"),
        ("day", "20261130", "20261130"),
        ("day", "next week", "next week"),
        ("day", None, "none"),
        ("text", "2026-11-30", "2026-11-30"),
        ("at", "2026-11-30T14:05:00Z", "2026-11-30T14:05:00Z"),
    ],
)
def test_where_there_is_room_lists_parts_and_days_are_laid_out(
    name: str, value: JsonValue, shown: str
) -> None:
    assert lay_out({name: value}, LISTED) == {name: shown}


class Line(BaseModel):
    price: Annotated[Decimal, Money("USD")]
    tip: Annotated[Decimal, Money("EUR")] | None = None
    parts: list[Line] = []
    note: str = ""


class Invoice(BaseModel):
    lines: list[Line]
    by_name: dict[str, Annotated[Decimal, Money("USD")]]
    pair: tuple[str, Annotated[Decimal, Money("USD")]]
    several: list[Annotated[Decimal, Money("USD")] | None]


@pytest.mark.parametrize("show", [lay_out, show_args])
@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [
        ("lines", [{"price": 1800, "note": "180"}], '[{"price":"$1,800.00","note":"180"}]'),
        ("lines", [{"price": "1.5", "tip": None}], '[{"price":"$1.50","tip":null}]'),
        ("lines", [{"tip": 2, "price": True}], '[{"tip":"€2.00","price":true}]'),
        ("lines", [{"parts": [{"price": 3}]}], '[{"parts":[{"price":"$3.00"}]}]'),
        ("lines", [{"price": "a lot", "other": 7}], '[{"price":"a lot","other":7}]'),
        ("by_name", {"Ann": 180, "Bob": "1.004"}, '{"Ann":"$180.00","Bob":"$1.004"}'),
        ("pair", ["5", 5, {"a": 5}], '["5","$5.00",{"a":5}]'),
        ("several", [5, None], '["$5.00",null]'),
    ],
)
def test_money_within_lists_and_parts_is_shown_as_money(
    show: Callable[..., dict[str, str]], name: str, value: JsonValue, shown: str
) -> None:
    found = show({name: value}, Invoice.model_json_schema())[name]
    assert re.sub(r"\n\s*|(?<=:) ", "", found) == shown


def test_a_value_that_is_nested_deeper_than_its_schema_can_be_followed_is_shown_all_the_same() -> (
    None
):
    deep: JsonValue = {"price": 1}
    for _ in range(400):
        deep = {"parts": [deep]}
    assert '"price":1' in lay_out({"lines": [deep]}, Invoice.model_json_schema())["lines"]


def test_what_is_nested_deeply_is_not_spread_over_blanks() -> None:
    deep: JsonValue = "end"
    for _ in range(200):
        deep = [deep]
    assert lay_out({"deep": deep}, LISTED)["deep"] == "[" * 200 + '"end"' + "]" * 200


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-11-30T14:05:00Z", datetime(2026, 11, 30, 14, 5, tzinfo=UTC)),
        ("2026-11-30 16:05:00.5+02:00", datetime(2026, 11, 30, 14, 5, 0, 500_000, tzinfo=UTC)),
        ("2026-11-30T14:05:00", None),
        ("2026-11-30<14:05:00Z", None),
        ("2026-11-30", None),
        ("2026-13-30T14:05:00Z", None),
        ("now", None),
        (1_700_000_000, None),
    ],
)
def test_only_what_names_one_moment_is_read_as_one(
    text: JsonValue, moment: datetime | None
) -> None:
    assert read_moment(text) == moment


def test_of_what_nobody_declares_more_is_shown_as_it_is() -> None:
    schema = {
        "properties": {
            "x": True,
            "y": {"type": "string", "maxLength": "long"},
            "z": {"anyOf": [True]},
        }
    }
    assert [one.kind for one in describe_fields(schema)] == ["json", "long_text", "json"]
    assert lay_out({"x": "a", "z": 1}, schema) == {"x": "a", "z": "1"}


def test_a_currency_in_small_letters_is_the_same_currency() -> None:
    assert show_value(180, {**DOLLARS, "x-currency": "usd"}) == "$180.00"
