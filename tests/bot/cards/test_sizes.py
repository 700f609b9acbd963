"""What a card holds when everything that can be said of it is said at once."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

import pytest
from pydantic import JsonValue

from agent.rules.ids import Principal
from agent.rules.parts import Approvers, Delivery, Granting
from bot.slack.cards.blocks import MESSAGE_LIMIT, weigh
from bot.slack.cards.elsewhere import with_way_back
from bot.slack.thread.desired import Wanted, desired
from bot.slack.thread.standing import Standing
from tests.agent.rules.histories import (
    History,
    approved,
    asked,
    begun,
    call_started,
    denied,
    judged,
    previewed,
    replied,
    returned,
    steered,
    voted,
)
from tests.bot.cards.checking import check_message, shown
from tests.bot.cards.test_group import reply
from tests.examples import long_only

FIVE = Approvers(groups=("S0FINANCE",), count=5)
MENTIONS = (
    "@U0ALICE",
    "@U0BOB",
    "!subteam^S0FINANCE",
    "!channel",
    "#C0OPS",
    *(f"@U0V{n}" for n in range(4)),
)
NOTED: Mapping[str, JsonValue] = {
    "order": "p\u0430ypal \u200b",
    "password": "hunter2",
    "amount": 180,
}


def _asked(count: int, args: Mapping[str, JsonValue], *, notify: str = "mention") -> History:
    """Of five of finance, with all that a rule can want, and no word of what would happen."""
    numbers = range(1, count + 1)
    delivery = Delivery.model_validate({"notify": notify})
    history = begun().then(replied(*numbers))
    for n in numbers:
        one = judged(
            n, "ask", args=args, approvers=FIVE, can_preview=True, valid_for=timedelta(hours=1)
        )
        assert one.verdict is not None
        granting = Granting(scopes=("run", "thread"))
        verdict = one.verdict.model_copy(update={"confirm": True, "granting": granting})
        parameters = {"type": "object", "properties": {name: {} for name in args}}
        more = (
            {"verdict": verdict}
            if "order" in args
            else {"verdict": verdict, "parameters": parameters}
        )
        history = history.then(one.model_copy(update=more))
    history = history.then(*(previewed(n, None, "the shop did not answer " * 9) for n in numbers))
    long = {
        "title": "Refund an order " * 6,
        "reason": "more than is allowed " * 10,
        "delivery": delivery,
    }
    return history.then(
        *(asked(n, args=args, approvers=FIVE).model_copy(update=long) for n in numbers)
    )


def _with_votes(history: History, count: int, votes: int, note: str | None) -> History:
    for number in range(1, count + 1):
        for v in range(votes):
            by = Principal(f"slack:T0PILOT:U0V{v}")
            history = history.then(
                voted(number, by, user=f"U0V{v}", groups=("S0FINANCE",), note=note)
            )
    return history


def _cards(history: History) -> list[Wanted]:
    """Also those that are asked in the thread though they belong elsewhere."""
    missed = {one: Standing(refused="channel_not_found") for one in history.state.approvals}
    found = [*desired(history.state), *desired(history.state, standing=missed)]
    return [one for one in found if one.key.startswith("approval:") and not one.is_past]


def _fits(card: Wanted, history: History) -> None:
    elsewhere = with_way_back(card.message, history.state, None)
    for message in (card.message, elsewhere):
        check_message(message, MENTIONS)
        assert len(message.first.blocks) <= 50
        assert weigh(message.first.blocks) <= MESSAGE_LIMIT


@pytest.mark.parametrize("notify", ["mention", "channel"])
@pytest.mark.parametrize(("votes", "note"), [(0, None), (2, "n" * 120), (3, None)])
@pytest.mark.parametrize("size", [700, *long_only(1, 1_000)])
def test_a_shared_card_is_within_all_limits_whatever_is_said_of_its_calls(
    size: int, votes: int, note: str | None, notify: str
) -> None:
    args = {**NOTED, "order": f"{NOTED['order']}{'x' * size}"}
    history = _with_votes(_asked(5, args, notify=notify), 5, votes, note)
    cards = _cards(history)
    assert any("actions to decide" in shown(card.message.blocks) for card in cards)
    for card in cards:
        _fits(card, history)


def test_who_has_said_yes_moves_no_call_to_another_card() -> None:
    before = _asked(5, NOTED)
    after = _with_votes(before, 5, 3, "n" * 120).then(denied(2, "no " * 900))
    assert [card.key for card in _cards(after)] == [card.key for card in _cards(before)]


@pytest.mark.parametrize("votes", [0, 2])
def test_a_card_of_one_call_is_within_all_limits_and_can_be_approved(votes: int) -> None:
    args: dict[str, JsonValue] = {f"a{n}": f"line one\nline {n}" for n in range(38)}
    args |= {"password": "hunter2", "x": "p\u0430ypal\u200b\nq"}
    history = _with_votes(_asked(1, args), 1, votes, "ok")
    for card in _cards(history):
        _fits(card, history)
        assert "Approve" in shown(card.message.blocks)
        assert "View all" in shown(card.message.blocks)


LONG = "&" * 3_000


def test_how_a_call_of_a_shared_card_ended_is_said_beside_however_long_a_note() -> None:
    history = reply(asked(1), asked(2)).then(approved(1, note=LONG))
    history = history.then(call_started(1, history.now)).then(returned(1, LONG, is_error=True))
    (card,) = _cards(history)[:1]
    read = shown(card.message.blocks)
    assert "*Approved* by <@U0BOB>" in read
    assert "Failed" in read
    assert "&&&" in read.split("Failed")[1]
    assert "Shortened" in read
    _fits(card, history)


def test_what_a_call_of_a_shared_card_was_changed_to_is_shown_however_long_it_is() -> None:
    args: Mapping[str, JsonValue] = {"order": "a" * 900, "amount": 1}
    history = reply(asked(1, args=args), asked(2)).then(steered(1, {**args, "order": "b" * 900}))
    card = _cards(history)[0]
    read = shown(card.message.blocks)
    assert "bbbb" in read
    assert "View all" in read
    _fits(card, history)


def test_that_a_denied_call_did_not_happen_is_said_beside_however_long_a_reason() -> None:
    history = reply(asked(1), asked(2)).then(denied(1, LONG))
    card = _cards(history)[0]
    assert "It did not happen." in shown(card.message.blocks)
    _fits(card, history)


def test_everybody_of_very_many_is_counted_and_the_first_are_named() -> None:
    many = Approvers(groups=("S0FINANCE",), count=250)
    history = begun().then(replied(1)).then(judged(1, "ask")).then(asked(1, approvers=many))
    for v in range(249):
        by = Principal(f"slack:T0PILOT:U0V{v}")
        history = history.then(voted(1, by, user=f"U0V{v}", groups=("S0FINANCE",)))
    (card,) = _cards(history.then(approved(1)))[:1]
    check_message(card.message, (*MENTIONS, *(f"@U0V{n}" for n in range(20))))
    assert "and 230 more" in shown(card.message.blocks)
