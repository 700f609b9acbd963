"""Text that is written fast is the text that would be written otherwise, or reads the same."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.rules.json_text import dump_text, dump_values, load_text

TEXTS = st.text(st.characters(codec=None)) | st.sampled_from(["NaN", "Infinity", "\ud800", "\x7f/"])
#: No number of JSON, or one that is too long to be read again.
UNREADABLE = [math.nan, math.inf, -math.inf, 10**5_000]


def values_with(numbers: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    values = st.recursive(
        st.none() | st.booleans() | numbers | TEXTS,
        lambda values: st.lists(values, max_size=4) | st.dictionaries(TEXTS, values, max_size=4),
        max_leaves=12,
    )
    return st.dictionaries(TEXTS, values, max_size=5)


def read_back(dump: Any, values: dict[str, Any]) -> object:
    """With the types and signs that equal values may differ in."""
    try:
        return repr(load_text(dump(values)))
    except ValueError as error:
        return type(error)


@given(values_with(st.floats() | st.integers()))
def test_it_reads_the_same_or_is_refused_alike(values: dict[str, Any]) -> None:
    assert read_back(dump_values, values) == read_back(dump_text, values)


@given(values_with(st.integers()))
def test_it_is_the_same_where_no_number_has_a_fraction(values: dict[str, Any]) -> None:
    assert dump_values(values) == dump_text(values)


@pytest.mark.parametrize("number", UNREADABLE, ids=["nan", "inf", "-inf", "long"])
def test_what_nobody_could_read_is_refused(number: object) -> None:
    for values in ({"n": number}, {"n": [{"m": number}]}):
        with pytest.raises(ValueError, match=r"range|limit"):
            dump_values(values)


def test_what_is_nested_deeply_is_written() -> None:
    value: object = 0
    for _ in range(280):
        value = [value]
    assert dump_values({"v": value}) == dump_text({"v": value})
