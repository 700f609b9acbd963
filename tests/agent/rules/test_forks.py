"""Forking: where it can be done, and what a fork takes along."""

from __future__ import annotations

import re
from itertools import count

import pytest

from agent.errors import NoBoundary
from agent.rules.decisions import Decider, why_not
from agent.rules.events import Event
from agent.rules.forking import fork, is_boundary
from agent.rules.ids import CallId, OperationId
from agent.rules.interventions import HistoryTaken, MessageReceived, TakenCall
from agent.rules.parts import Receipt
from agent.rules.transcript import transcript
from tests.agent.rules.happenings import said
from tests.agent.rules.histories import (
    ALICE,
    AS_CAROL,
    AS_FRANK,
    BOB,
    FINANCE,
    REFUND,
    RUN,
    History,
    approved,
    asked,
    begun,
    denied,
    in_review,
    judged,
    left_unknown,
    looked_up,
    proposed_call,
    replied,
    returned,
    settled,
    started,
    waiting,
)


def forked(history: History, at: int | None = None) -> list[Event]:
    numbers = count(1)
    _, events = fork(
        history.recorded, at or history.length, BOB, lambda prefix: f"{prefix}_new{next(numbers)}"
    )
    return list(events)


def taken(history: History, at: int | None = None) -> HistoryTaken:
    event = forked(history, at)[0]
    assert isinstance(event, HistoryTaken)
    return event


def test_a_fork_at_the_start_takes_nothing_along() -> None:
    assert forked(begun()) == [HistoryTaken(of_run=RUN, up_to=1, forked_by=(BOB,), taints=())]


def test_what_is_done_is_history_with_its_receipt_and_its_operation() -> None:
    history = started().then(returned(1, "paid"))
    (turn,) = taken(history).turns
    (call,) = turn.calls
    assert turn.text == ""
    assert call.proposed == proposed_call(1).model_copy(update={"call_id": CallId("call_new1")})
    assert (call.title, call.effect, call.args) == ("Refund an order", "idempotent", REFUND)
    assert (call.attempts, call.outcome, call.output, call.told) == (1, "ok", "paid", "paid")
    assert call.receipt == Receipt(status="committed")


def test_what_was_not_begun_is_proposed_anew_under_another_operation() -> None:
    for history in (waiting(), waiting().then(approved(1)), begun().then(replied(1))):
        (turn,) = taken(history).turns
        (call,) = turn.calls
        news = {"call_id": CallId("call_new1"), "operation_id": OperationId("op_new2")}
        assert call == TakenCall(proposed=proposed_call(1).model_copy(update=news))


def test_what_the_model_had_not_seen_is_said_anew() -> None:
    history = (
        begun()
        .then(said("one"))
        .then(replied(1, text="I look.", asked_at=2))
        .then(said("two", BOB, "ref"))
    )
    history_taken, message = forked(history)
    assert isinstance(history_taken, HistoryTaken)
    assert (history_taken.turns[0].said, history_taken.turns[0].text) == (("one",), "I look.")
    assert message == MessageReceived(by=BOB, text="two")


def test_a_fork_of_a_fork_tells_what_the_first_did() -> None:
    first = waiting().then(denied(1, "no"))
    second = begun().then(*forked(first))
    assert transcript(second.state) != ()
    assert taken(second).turns[0].calls[0].told == taken(first).turns[0].calls[0].told


@pytest.mark.parametrize("at", [-1, 0, 3, 99])
def test_where_nothing_has_happened_nothing_is_forked(at: int) -> None:
    with pytest.raises(NoBoundary) as refused:
        fork(begun().then(replied(1)).recorded, at, BOB, str)
    assert (refused.value.run_id, refused.value.seq) == (RUN, at)
    assert refused.value.nearest == (2 if at > 2 else None)
    assert f"can't be forked at {at}: its journal goes from 1 to 2." in str(refused.value)


def test_the_nearest_place_is_the_last_one_before() -> None:
    said = "run_1 can't be forked at 4: a call was under way. The nearest place is 3."
    with pytest.raises(NoBoundary, match=re.escape(said)):
        fork(started().then(returned(1)).recorded, 4, BOB, str)


def asked_once_more() -> History:
    """Its answer was lost, and today's policy wants people to be asked before it is begun once more."""
    history = started("idempotent")
    history = history.then(judged(1, "ask", again_because="the policy now asks"))
    return history.then(asked(1))


@pytest.mark.parametrize(
    ("history", "expected"),
    [
        (begun(), True),
        (waiting(), True),
        (started("read"), False),
        (started("once"), False),
        (started("once").then(left_unknown(1)), False),
        (started("once").then(looked_up(1)), True),
        (in_review(), False),
        (in_review().then(settled(2, "not_happened")), True),
        (in_review().then(settled(2, "give_up")), True),
        # It waits for people, and may have happened all the same: another operation would repeat it.
        (asked_once_more(), False),
        (asked_once_more().then(approved(1)), False),
        (asked_once_more().then(denied(1)), True),
        (started().then(returned(1)), True),
    ],
)
def test_a_boundary_is_where_of_every_call_it_is_known_what_became_of_it(
    history: History, expected: bool
) -> None:
    assert is_boundary(history.state) == expected


def test_whoever_forks_a_run_asked_for_it_as_well_and_of_a_fork_both_did() -> None:
    once = begun().then(*forked(begun()))
    assert once.state.requesters == (ALICE, BOB)
    _, events = fork(once.recorded, 2, AS_CAROL.principal, str)
    twice = begun().then(*events)
    assert twice.state.requesters == (ALICE, BOB, AS_CAROL.principal)
    asks = twice.then(replied(1)).then(judged(1, "ask")).then(asked(1))
    for who in (ALICE, BOB, AS_CAROL.principal):
        decider = Decider(who, groups=frozenset({"S0FINANCE"}))
        assert why_not(FINANCE, asks.state.requesters, decider) is not None
    assert why_not(FINANCE, asks.state.requesters, AS_FRANK) is None
