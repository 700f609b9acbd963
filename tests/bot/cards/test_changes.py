"""The rows that say what was changed: each shows that it was, and how."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import JsonValue

from bot.slack.cards.arguments import changed_arguments
from bot.slack.cards.view_all import view_all_modal
from tests.agent.rules.histories import asked, begun, denied, guided, judged, replied, steered
from tests.bot.cards.checking import shown
from tests.bot.cards.test_group import cards, several


def _row(before: JsonValue, after: JsonValue, name: str = "it") -> str:
    ((_, change),) = changed_arguments({name: before}, {name: after}, {})
    return change


def test_long_text_is_shown_from_a_little_before_where_it_differs() -> None:
    old, _, new = _row("x" * 4_000 + "refund 100", "x" * 4_000 + "refund 900").partition(" → ")
    assert old.endswith("xrefund 100")
    assert new.endswith("xrefund 900")
    assert old.startswith("…x")


@pytest.mark.parametrize(
    ("name", "before", "after", "why"),
    [
        ("password", "hunter2", "hunter3", "another one"),
        ("it", "x" * 50_000 + "a", "x" * 50_000 + "b", "otherwise further on"),
    ],
)
def test_what_reads_the_same_is_said_to_have_changed(
    name: str, before: JsonValue, after: JsonValue, why: str
) -> None:
    assert why in _row(before, after, name)


def test_a_number_and_its_digits_do_not_read_alike() -> None:
    assert _row(5, "5") == '5 → "5"'


def test_one_and_true_are_not_the_same() -> None:
    assert "→" in _row(1, True)


def test_nor_are_they_where_all_of_a_change_is_read() -> None:
    history = begun().then(replied(1)).then(judged(1, "ask", args={"it": 1}))
    state = history.then(asked(1, args={"it": 1})).then(steered(1, {"it": True})).state
    (approval,) = state.approvals.values()
    modal = view_all_modal(approval, state.call(approval.requested.of_call), state)
    assert "Before: it" in str(modal)


def test_what_is_the_same_is_no_change() -> None:
    assert changed_arguments({"it": {"a": 1.0}}, {"it": {"a": 1.0}}, {}) == []


def test_of_very_many_changes_it_is_said_how_many_more_there_are() -> None:
    before: dict[str, Any] = {f"a{n}": n for n in range(30)}
    after = {name: value + 1 for name, value in before.items()}
    history = begun().then(replied(1)).then(judged(1, "ask", args=before))
    (card,) = cards(history.then(asked(1, args=before)).then(steered(1, after)))
    read = shown(card.message.blocks)
    assert read.count("→") == 20
    assert "and 10 more" in read
    assert "View all" in read


def test_the_notification_of_a_shared_card_says_what_a_call_was_changed_to() -> None:
    history = several(2).then(steered(1, {"order": "ORD-3300", "amount": 90}), denied(2))
    (card,) = cards(history)
    assert "Steered by <@U0BOB>: Refund an order: ORD-3300, $90.00;" in card.message.text


def test_the_notification_of_a_shared_card_says_that_guidance_was_given_instead() -> None:
    (card,) = cards(several(2).then(guided(1, "ask them first"), denied(2)))
    assert "Refund an order: ORD-3300, $180.00 · not done;" in card.message.text
