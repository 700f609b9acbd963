"""What a card has shortened can be read in full, also when there is nothing left to decide on it."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest
from pydantic import JsonValue

from agent.rules.events import Event
from agent.rules.ids import ApprovalId
from bot.slack.cards.card import card_of
from bot.slack.cards.view_all import view_all_modal
from bot.slack.ids import VIEW
from bot.slack.thread.desired import desired
from tests.agent.rules.histories import (
    SECOND,
    History,
    approved,
    asked,
    begun,
    call_started,
    denied,
    judged,
    left_unknown,
    replied,
    settled,
    steered,
)
from tests.bot.cards.checking import check_message, check_view_limits, shown
from tests.bot.cards.test_limits import MENTIONS

LONG = "".join(f"line {number:05}\n" for number in range(900))
APR_1, APR_2 = ApprovalId("apr_1"), ApprovalId("apr_2")


def question(named: Mapping[str, JsonValue], *events: Event, preview: str | None = None) -> History:
    request = asked(1, args=named, preview=preview)
    return begun().then(replied(1)).then(judged(1, "ask", args=named)).then(request).then(*events)


def leads_to_all(history: History, approval_id: ApprovalId) -> bool:
    state = history.state
    card = card_of(state.approvals[approval_id], state)
    check_message(card, MENTIONS)
    return f'"{VIEW}"' in json.dumps(card.blocks)


def read(history: History, approval_id: ApprovalId = APR_1) -> str:
    """All pages of it."""
    state, told = history.state, ""
    approval = state.approvals[approval_id]
    call = state.call(approval.requested.of_call)
    for page in range(1, 10):
        view = view_all_modal(approval, call, state, page=page)
        check_view_limits(view)
        told += shown(view["blocks"])
        if f"Page {page} of {page}" in told or "Page" not in told:
            return told
    raise AssertionError("more pages than there should be")


@pytest.mark.parametrize("end", [approved(1), denied(1, "no")], ids=["approved", "denied"])
def test_a_decided_card_that_is_shortened_leads_to_all_of_it(end: Event) -> None:
    over = question({"script": LONG}, end)
    assert leads_to_all(over, APR_1)
    assert "line 00899" in read(over)
    assert not leads_to_all(question({"script": "ls"}, end), APR_1)
    foreseen = question({"script": "ls"}, end, preview=LONG)
    assert leads_to_all(foreseen, APR_1)
    assert "What was to happen" in read(foreseen)


def test_of_a_call_that_was_changed_both_forms_can_be_read() -> None:
    after = {"script": "rm -rf ./build", "host": "web-1"}
    over = question({"script": LONG, "host": "web-1"}, steered(1, after), preview=LONG)
    assert leads_to_all(over, APR_1)
    told = read(over)
    assert told.index("rm -rf ./build") < told.index("line 00899")
    assert "Before: script" in told
    assert "Before: host" not in told
    assert "What was to happen" not in told
    assert not leads_to_all(question({"script": "ls"}, steered(1, {"script": "ls -l"})), APR_1)


def reviewed(named: Mapping[str, JsonValue], *events: Event) -> History:
    """The same with a call that may have happened."""
    history = question(named, approved(1))
    history = history.then(call_started(1, history.now + SECOND), left_unknown(1))
    review = asked(1, approval=2, kind="review", args=named, supersedes=1)
    return history.then(review).then(*events)


@pytest.mark.parametrize("events", [(), (settled(2, "happened"),)], ids=["open", "settled"])
def test_what_may_have_happened_can_be_read_in_full(events: tuple[Event, ...]) -> None:
    assert leads_to_all(reviewed({"script": LONG}, *events), APR_2)
    assert not leads_to_all(reviewed({"script": "ls"}, *events), APR_2)
    told = read(reviewed({"script": LONG}, *events), APR_2)
    assert "line 00899" in told
    assert "wants to do this" not in told


def test_what_was_decided_on_a_card_of_several_leads_to_what_its_line_leaves_out() -> None:
    long = {"script": "ls -l\n" * 20}
    every = (asked(1, args=long), asked(2, args={"script": "ls"}), asked(3, args={"script": "ls"}))
    history = begun().then(replied(1, 2, 3))
    history = history.then(*(judged(n, "ask", args=one.args) for n, one in enumerate(every, 1)))
    history = history.then(*every).then(denied(1, "no"), denied(2, "no"))
    card = next(one.message for one in desired(history.state) if one.key == "approval:apr_1")
    check_message(card, MENTIONS)
    found = [
        element["value"]
        for block in card.blocks
        if block["type"] == "actions"
        for element in block["elements"]
        if element["action_id"].startswith(VIEW)
    ]
    assert found == ["apr_1"]
