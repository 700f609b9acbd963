"""Lengths of time: written in a policy, read by people."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.rules.durations import LONGEST, read_duration, show_duration


@pytest.mark.parametrize(
    ("text", "length", "shown"),
    [
        ("3s", timedelta(seconds=3), "3 s"),
        ("10m", timedelta(minutes=10), "10 min"),
        ("2h", timedelta(hours=2), "2 h"),
        ("1d", timedelta(days=1), "1 d"),
        ("90m", timedelta(minutes=90), "1 h 30 min"),
        ("24h", timedelta(days=1), "1 d"),
        ("0s", timedelta(), "0 s"),
        ("3650d", LONGEST, "3650 d"),
    ],
)
def test_a_length_is_a_number_and_its_unit(text: str, length: timedelta, shown: str) -> None:
    assert read_duration(text) == length
    assert show_duration(length) == shown


@pytest.mark.parametrize(
    "text",
    ["", "1", "h", "1 h", "1h ", "-1h", "+1h", "1.5h", "1h30m", "1H", "1w", "٣s", "1e3s", "PT1H"],
)
def test_what_is_no_length_is_refused_with_examples(text: str) -> None:
    with pytest.raises(ValueError, match="write one such as 30s, 10m, 2h or 1d"):
        read_duration(text)


@pytest.mark.parametrize("text", ["3651d", "999999999d", "999999999h"])
def test_what_would_last_too_long_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="3650d is the most"):
        read_duration(text)


@pytest.mark.parametrize(
    ("length", "shown"),
    [
        (timedelta(seconds=59.9), "59 s"),
        (timedelta(hours=1, seconds=1), "1 h"),
        (timedelta(days=2, hours=3, minutes=4), "2 d 3 h"),
        (timedelta(days=2, minutes=4), "2 d"),
        (timedelta(milliseconds=5), "0 s"),
        (timedelta(seconds=-5), "0 s"),
    ],
)
def test_a_length_is_shown_in_its_two_largest_units_rounded_down(
    length: timedelta, shown: str
) -> None:
    assert show_duration(length) == shown


@given(st.integers(0, 59), st.sampled_from("smh"))
def test_what_is_shown_is_what_was_written(number: int, unit: str) -> None:
    shown = show_duration(read_duration(f"{number}{unit}"))
    assert shown.split()[0] == str(number) or (unit == "h" and number >= 24)
