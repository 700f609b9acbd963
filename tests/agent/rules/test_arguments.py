"""The text of a call's arguments, as models write it."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.rules.arguments import MalformedArguments, parse_arguments


def test_one_json_object_is_read() -> None:
    text = ' {"order": "ORD-7", "amount": 250.50, "lines": [{"n": 1}], "note": null} '
    assert parse_arguments(text) == {
        "order": "ORD-7",
        "amount": 250.5,
        "lines": [{"n": 1}],
        "note": None,
    }
    assert parse_arguments("{}") == {}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "are not JSON"),
        ("refund", "are not JSON"),
        ('{"a": 1', "are not JSON"),
        ('{"a": 1} {"a": 2}', "are not JSON"),
        ("{'a': 1}", "are not JSON"),
        ("[" * 100_000, "are not JSON"),
        ('{"a": ' + "1" * 10_000 + "}", "are not JSON"),
        ("[1]", "must be one JSON object"),
        ("null", "must be one JSON object"),
        ('"{}"', "must be one JSON object"),
        ('{"a": NaN}', "NaN is no value of JSON"),
        ('{"a": [-Infinity]}', "-Infinity is no value of JSON"),
        ('{"a": 1e999}', "1e999 is too large a number"),
        ('{"amount": 1, "amount": 1000}', "names amount twice"),
        ('{"a": {"b": 1, "\\u0062": 2}}', "names b twice"),
    ],
)
def test_anything_else_is_refused_and_says_why(text: str, why: str) -> None:
    with pytest.raises(MalformedArguments, match=why):
        parse_arguments(text)


@given(st.text())
def test_no_text_whatsoever_does_anything_else(text: str) -> None:
    with suppress(MalformedArguments):
        assert isinstance(parse_arguments(text), dict)
