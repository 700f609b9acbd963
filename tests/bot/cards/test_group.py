"""The card of several calls of one reply: each is decided by itself, and says what became of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest
from pydantic import JsonValue

from agent.rules.events import ApprovalRequested, Event
from agent.rules.ids import ApprovalId, GroupId
from agent.rules.parts import Approvers, Delivery
from bot.slack.cards.all_of import Listed, all_modal
from bot.slack.cards.blocks import weigh
from bot.slack.cards.together import shared_cards
from bot.slack.thread.desired import Wanted, desired
from tests.agent.rules.histories import (
    FINANCE,
    GROUP,
    REFUND,
    History,
    approved,
    asked,
    begun,
    denied,
    judged,
    previewed,
    replied,
    steered,
)
from tests.bot.cards.checking import check_message, check_view_limits, shown
from tests.bot.cards.stories import ANY_TWO, yes
from tests.bot.cards.test_limits import MANY, MENTIONS, NASTY
from tests.examples import every

DECIDE = ["approval.approve", "approval.deny", "approval.steer", "approval.more"]

ALL = ["approvals.approve_all", "approvals.deny_all"]


def reply(*questions: ApprovalRequested) -> History:
    """One reply, with a call to each question; all are asked at once."""
    numbers = range(1, len(questions) + 1)
    history = begun().then(replied(*numbers))
    judgements = (
        judged(number, "ask", args=one.args) for number, one in zip(numbers, questions, strict=True)
    )
    return history.then(*judgements).then(*questions)


def several(count: int, args: Mapping[str, JsonValue] = REFUND, **how: Any) -> History:
    return reply(*(asked(number, args=args, **how) for number in range(1, count + 1)))


def cards(history: History) -> list[Wanted]:
    """Those that are posted."""
    wanted = [one for one in desired(history.state) if one.key.startswith("approval:")]
    for one in wanted:
        check_message(one.message, {*MENTIONS, "!subteam^S0LEGAL"})
    return [one for one in wanted if not one.is_past]


def actions(card: Wanted) -> list[str]:
    rows = [block for block in card.message.blocks if block["type"] == "actions"]
    return [element["action_id"] for row in rows for element in row["elements"]]


def test_calls_that_are_asked_together_share_a_card_and_each_has_its_own_buttons() -> None:
    (card,) = cards(several(3))
    assert card.key == "approval:apr_1"
    own = [f"{one}:{number}" for number in (1, 2, 3) for one in DECIDE]
    assert actions(card) == [*own, *ALL]
    read = shown(card.message.blocks)
    assert read.startswith("3 actions to decide\n")
    assert "1. Refund an order?" in read
    assert "None of them has happened yet." in read
    assert card.message.text.startswith("Approve 3 actions? Refund an order: ORD-3300, $180.00; ")
    assert shown(card.message.first.blocks).count("<!subteam^S0FINANCE>: ") == 1


def test_the_title_of_each_call_that_waits_is_bold_on_the_card_and_where_all_are_decided() -> None:
    history = several(2)
    (card,) = cards(history)
    listed = all_modal("Approve", history.state.open_approvals, history.state)
    for blocks, title in (
        (card.message.blocks, "1. Refund an order?"),
        (listed["blocks"], "1. Refund an order"),
    ):
        bold = {"type": "text", "text": title, "style": {"bold": True}}
        assert [b["elements"][0]["elements"] for b in blocks if title in str(b)] == [[bold]]


def test_where_all_are_decided_it_is_said_of_what_could_not_be_foreseen() -> None:
    history = begun().then(replied(1, 2)).then(judged(1, "ask", can_preview=True), judged(2, "ask"))
    state = history.then(previewed(1, None, "no answer")).then(asked(1), asked(2)).state
    view = all_modal("Approve", state.open_approvals, state)
    assert "What will happen could not be said: no answer" in shown(view["blocks"])


def test_each_button_names_its_own_approval() -> None:
    (card,) = cards(several(2))
    rows = [block for block in card.message.blocks if block["type"] == "actions"]
    values = [[element.get("value") for element in row["elements"]][:3] for row in rows]
    assert values == [["apr_1"] * 3, ["apr_2"] * 3, ["grp_1"] * 2]
    assert rows[-1]["block_id"] == "apr_1"
    said = [one.get("accessibility_label") for row in rows for one in row["elements"]]
    spoken = [label for label in said if label]
    assert len(set(spoken)) == len(spoken)
    assert spoken[3] == "2. Approve: Refund an order"
    assert "Approve all 2" in shown(rows[-1:])


@pytest.mark.parametrize(
    ("decided", "said"),
    [
        (approved(2), "✅ *Approved* by <@U0BOB>"),
        (denied(2, "not this one"), "not this one"),
        (steered(2, {"order": "ORD-3300", "amount": 90}), "$180.00 → $90.00"),
    ],
)
def test_what_is_decided_shrinks_in_place_while_the_other_waits(decided: Event, said: str) -> None:
    (card,) = cards(several(2).then(decided))
    read = shown(card.message.blocks)
    assert actions(card) == [f"{one}:1" for one in DECIDE]
    assert "1 of 2 actions to decide" in read
    assert "2. Refund an order: ORD-3300, $180.00" in read
    assert said in read
    assert card.is_open
    assert card.message.text.startswith("Approve? Refund an order")


def test_a_modal_lists_exactly_what_it_decides_and_holds_ids_only() -> None:
    state = several(3).then(denied(2)).state
    for verb in ("Approve", "Deny"):
        view = all_modal(verb, state.open_approvals, state, others=1)
        check_view_limits(view)
        assert json.loads(view["private_metadata"]) == {
            "group": "grp_1",
            "approvals": ["apr_1", "apr_3"],
        }
        both = (ApprovalId("apr_1"), ApprovalId("apr_3"))
        assert Listed.read(view["private_metadata"]) == Listed(GROUP, both)
        assert view["submit"]["text"] == f"{verb} 2"
        read = shown(view["blocks"])
        assert [line for line in read.split("\n") if "Refund an order" in line] == [
            "1. Refund an order",
            "3. Refund an order",
        ]
        assert "not yours to decide: 1 more" in read


@pytest.mark.parametrize(
    "forged",
    [
        "",
        "[]",
        "null",
        "[" * 3000,
        '{"group": "grp_1"}',
        '{"group": 1, "approvals": ["apr_1"]}',
        '{"group": "grp_1", "approvals": []}',
        '{"group": "grp_1", "approvals": "apr_1"}',
        '{"group": "grp_1", "approvals": [1]}',
        '{"group": "grp_1", "approvals": ["apr_1", "apr_1"]}',
    ],
)
def test_what_no_modal_of_ours_holds_lists_nothing(forged: str) -> None:
    assert Listed.read(forged) is None


def test_who_has_said_yes_so_far_stands_at_the_call_that_it_was_said_to() -> None:
    (card,) = cards(several(2, approvers=ANY_TWO).then(yes()))
    read = shown(card.message.blocks)
    first, second = read.split("2. Refund an order?")
    assert "<@U0BOB>" in first
    assert "One more is needed." in first
    assert "<@U0BOB>" not in second
    assert actions(card)[:4] == [f"{one}:1" for one in DECIDE]


def test_when_nothing_is_left_to_decide_there_are_no_buttons() -> None:
    (card,) = cards(several(2).then(approved(1)).then(denied(2)))
    assert actions(card) == []
    assert not card.is_open
    assert "none left to decide" in shown(card.message.blocks)
    assert "✅ Approved by <@U0BOB>: Refund an order" in card.message.text
    assert "⛔ Denied by <@U0BOB>: Refund an order" in card.message.text


def test_a_call_alone_keeps_the_card_that_it_had() -> None:
    (card,) = cards(several(1))
    assert actions(card) == DECIDE


def test_more_calls_than_a_card_holds_are_on_numbered_cards_and_none_is_left_out() -> None:
    history = several(9)
    found = cards(history)
    assert len(found) > 1
    assert "card 1 of 3" in shown(found[0].message.blocks)
    assert "card 2 of 3" in shown(found[1].message.blocks)
    shared = [one.id for card in shared_cards(history.state) for one in card.members]
    alone = [one.key.removeprefix("approval:") for one in found if ":1" not in str(actions(one))]
    assert [*shared, *alone] == list(history.state.approvals)


def test_what_fills_a_card_has_its_own_and_can_be_approved_there() -> None:
    long: Mapping[str, JsonValue] = {"order": "x" * 6_500, "amount": 1}
    found = cards(reply(asked(1), asked(2, args=long), asked(3)))
    assert [card.key for card in found] == ["approval:apr_1", "approval:apr_2", "approval:apr_3"]
    assert actions(found[1]) == DECIDE


def _alike(**changed: Any) -> ApprovalRequested:
    return asked(2).model_copy(update=changed)


@pytest.mark.parametrize(
    "second",
    [
        _alike(group=GroupId("grp_2")),
        _alike(delivery=Delivery(card="C0OPS")),
        _alike(delivery=Delivery(notify="none")),
        _alike(again_because="the policy has changed"),
        asked(2, kind="review"),
    ],
)
def test_what_is_of_another_reply_or_place_or_kind_or_asked_again_has_its_own_card(
    second: ApprovalRequested,
) -> None:
    history = reply(asked(1), second)
    assert list(shared_cards(history.state)) == []


def test_what_is_asked_later_rings_with_a_card_of_its_own() -> None:
    history = begun().then(replied(1, 2)).then(judged(1, "ask"), judged(2, "ask")).then(asked(1))
    later = history.then(asked(2), after=timedelta(seconds=2))
    assert [card.key for card in cards(later)] == ["approval:apr_1", "approval:apr_2"]


LEGAL = Approvers(groups=("S0LEGAL",))


@pytest.mark.parametrize(
    ("approvers", "after", "is_shared"),
    [
        (FINANCE, timedelta(0), True),
        (LEGAL, timedelta(0), True),
        (FINANCE, timedelta(seconds=0.5), True),
        (LEGAL, timedelta(seconds=0.5), False),
        (LEGAL, timedelta(microseconds=1), False),
    ],
)
def test_what_is_asked_of_others_a_little_later_rings_them_with_a_card_of_its_own(
    approvers: Approvers, after: timedelta, is_shared: bool
) -> None:
    history = begun().then(replied(1, 2)).then(judged(1, "ask"), judged(2, "ask")).then(asked(1))
    found = cards(history.then(asked(2, approvers=approvers), after=after))
    assert len(found) == (1 if is_shared else 2)
    assert ("S0LEGAL" in str([card.message.first for card in found])) == (approvers == LEGAL)


def test_a_card_keeps_its_calls_when_one_of_them_is_asked_again() -> None:
    history = several(3).then(steered(1, {"order": "ORD-3300", "amount": 150}))
    again = history.then(judged(1, "ask"), asked(1, approval=4, supersedes=1))
    assert [card.key for card in cards(again)] == ["approval:apr_1", "approval:apr_4"]
    (shared,) = shared_cards(again.state)
    assert [one.id for one in shared.members] == ["apr_1", "apr_2", "apr_3"]


def test_what_an_earlier_version_posted_for_one_call_is_kept_true() -> None:
    wanted = {one.key: one for one in desired(several(2).then(denied(2)).state)}
    own = wanted["approval:apr_2"]
    assert own.is_past
    assert "*Denied* by <@U0BOB>" in shown(own.message.blocks)
    assert "approval.approve" not in json.dumps(own.message.blocks)


@pytest.mark.parametrize("words", NASTY[:: every(3)])
@pytest.mark.parametrize("count", [2, 7])
def test_whatever_stands_in_it_is_within_all_limits(words: str, count: int) -> None:
    said = {"args": {"order": words[:300], "password": words}, "title": words, "reason": words}
    questions = [
        asked(number, approvers=MANY).model_copy(update=said) for number in range(1, count + 1)
    ]
    history = reply(*questions)
    for card in (*cards(history), *cards(history.then(denied(1, words[:3000] or "no")))):
        assert weigh(card.message.first.blocks) <= 12_000


def test_what_could_not_be_foreseen_and_how_long_a_yes_is_good_for_stand_at_the_call() -> None:
    history = begun().then(replied(1, 2))
    first = judged(1, "ask", can_preview=True, valid_for=timedelta(hours=1))
    history = history.then(first, judged(2, "ask")).then(previewed(1, None, "no answer"))
    (card,) = cards(history.then(asked(1), asked(2)))
    own, others = shown(card.message.blocks).split("2. Refund an order?")
    assert "What will happen could not be said: no answer" in own
    assert "a yes is good for 1 h" in own
    assert "could not be said" not in others
    assert "is good for" not in others
