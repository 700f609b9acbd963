"""Calls of one tool are told apart in the status; nothing secret is named for it."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from pydantic import JsonValue

from bot.slack.cards.calls import call_rows
from tests.agent.rules.histories import (
    History,
    approved,
    asked,
    begun,
    call_started,
    judged,
    proposed_call,
    replied,
    returned,
)

ONE: Mapping[str, JsonValue] = {"order": "ORD-1", "amount": 180}


def several(*args: Mapping[str, JsonValue]) -> History:
    """As many calls of one reply, all begun."""
    numbers = range(1, len(args) + 1)
    history = begun().then(replied(*(proposed_call(n) for n in numbers)))
    for number, given in zip(numbers, args, strict=True):
        history = history.then(judged(number, args=given))
        history = history.then(call_started(number, history.now))
    return history


def rows(history: History) -> list[str]:
    return [text for _, text in call_rows(history.state)]


@pytest.mark.parametrize(
    ("args", "values"),
    [
        ([ONE, {**ONE, "order": "ORD-2"}], ["ORD-1", "ORD-2"]),
        # What they share tells nobody anything.
        ([ONE, {**ONE, "amount": 90}], ["$180.00", "$90.00"]),
        ([ONE, ONE], ["ORD-1", "ORD-1"]),
        # Too long for a line.
        ([{"order": "x" * 31, "amount": 1}, {"order": "y" * 31, "amount": 2}], ["$1.00", "$2.00"]),
    ],
)
def test_of_several_calls_of_a_tool_each_is_named_by_what_is_its_own(
    args: list[Mapping[str, JsonValue]], values: list[str]
) -> None:
    assert rows(several(*args)) == [f"▶︎ Refund an order · {one} · running" for one in values]


def test_the_only_one_of_its_tool_needs_no_more_than_its_title() -> None:
    assert rows(several(ONE)) == ["▶︎ Refund an order · running"]


@pytest.mark.parametrize("name", ["token", "order"])
def test_a_secret_is_no_name(name: str) -> None:
    secrets = [{name: f"xoxb-1234567890-{number}"} for number in (1, 2)]
    assert rows(several(*secrets)) == ["▶︎ Refund an order · running"] * 2


def test_what_is_over_is_named_as_well() -> None:
    history = several(ONE, {**ONE, "order": "ORD-2"}).then(returned(1), returned(2))
    assert rows(history)[0].startswith("✓ Refund an order · ORD-1 · ")
    again = begun().then(replied(1)).then(judged(1, "ask")).then(asked(1)).then(approved(1))
    assert rows(again) == ["… Refund an order · about to start"]
