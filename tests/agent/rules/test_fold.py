"""The fold: what events amount to, and what can't be a journal."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.errors import CorruptJournal
from agent.rules.events import CallReturned, Event, RunFailed
from agent.rules.fold import apply, fold
from agent.rules.ids import CallId
from agent.rules.parts import Receipt, Usage
from tests.agent.rules.histories import (
    BEGAN,
    BOB,
    REFUND,
    History,
    answered,
    approved,
    asked,
    begun,
    call_started,
    denied,
    guided,
    in_review,
    judged,
    left_unknown,
    looked_up,
    previewed,
    recorded,
    replied,
    returned,
    settled,
    started,
    steered,
    voted,
    waiting,
)
from tests.agent.rules.legal_histories import legal_histories


def only_call(history: History) -> str:
    (call,) = history.state.calls.values()
    return call.status


# A call's life


@pytest.mark.parametrize(
    ("history", "status"),
    [
        (begun().then(replied(1)), "proposed"),
        (begun().then(replied(1)).then(judged(1)), "ready"),
        (begun().then(replied(1)).then(judged(1, "ask")), "asking"),
        (waiting(), "waiting"),
        (waiting().then(approved(1)), "ready"),
        (waiting().then(denied(1)), "ended"),
        (waiting().then(guided(1, "ask first")), "ended"),
        (waiting().then(steered(1, REFUND)), "ready"),
        (started(), "started"),
        (started().then(returned(1)), "ended"),
        (started("once").then(left_unknown(1)), "unknown"),
        (started("once").then(looked_up(1)), "ready"),
        (in_review(), "unknown"),
        (in_review().then(settled(2, "check")), "started"),
        (in_review().then(settled(2, "not_happened")), "ready"),
        (in_review().then(settled(2, "happened")), "ended"),
        (in_review().then(settled(2, "give_up")), "ended"),
    ],
)
def test_a_call_has_the_status_of_its_newest_event(history: History, status: str) -> None:
    assert only_call(history) == status


@pytest.mark.parametrize(
    ("event", "receipt"),
    [(settled(2, "happened"), "committed"), (settled(2, "give_up"), "unknown")],
)
def test_what_a_person_confirmed_has_a_receipt_and_what_was_given_up_stays_unknown(
    event: Event, receipt: str
) -> None:
    (call,) = in_review().then(event).state.calls.values()
    assert call.receipt is not None
    assert call.receipt.status == receipt
    assert call.result is not None
    assert call.result.by == BOB


def test_what_a_person_says_did_not_happen_is_known_as_such() -> None:
    (call,) = in_review().then(settled(2, "not_happened")).state.calls.values()
    assert call.receipt == Receipt(status="rejected")


def test_a_call_keeps_its_operation_id_over_all_its_attempts() -> None:
    history = in_review().then(settled(2, "not_happened"))
    (call,) = history.then(call_started(1, history.now, attempt=2)).state.calls.values()
    assert (call.operation_id, call.attempts) == ("op_1", 2)


def test_usage_adds_up_over_the_replies() -> None:
    state = begun().then(replied(text=" ")).then(replied(text="Done.")).state
    assert (state.model_calls, state.input_tokens, state.output_tokens) == (2, 20, 10)


def test_a_sum_that_no_number_can_hold_stops_the_run_alone() -> None:
    usage = Usage(cost_usd=Decimal("9E+999999"))
    costly = replied(text=" ").model_copy(update={"usage": usage})
    with pytest.raises(CorruptJournal, match="no sum"):
        assert begun().then(costly, costly).state


def test_the_end_of_a_run_cancels_questions_but_not_reviews() -> None:
    cancelled = waiting().then(RunFailed(error="x")).state
    assert [a.status for a in cancelled.approvals.values()] == ["cancelled"]
    reviewed = in_review().then(RunFailed(error="x")).state
    assert [a.status for a in reviewed.approvals.values()] == ["approved", "pending"]


def test_a_receipt_after_the_end_is_still_taken_in() -> None:
    history = started().then(RunFailed(error="x")).then(returned(1))
    (call,) = history.state.calls.values()
    assert call.receipt is not None
    assert history.state.ending == "failed"


# What can't be a journal


UNKNOWN_IDS: list[Event] = [
    judged(9),
    asked(9),
    call_started(9, BEGAN),
    returned(9),
    left_unknown(9),
    looked_up(9),
    previewed(9, "to card 42"),
    voted(9),
    approved(9),
    denied(9),
    answered(9, "yes"),
    asked(1, approval=8, supersedes=9),
]


@pytest.mark.parametrize("event", UNKNOWN_IDS, ids=lambda event: event.kind)
def test_an_event_about_nothing_known_stops_the_run_alone(event: Event) -> None:
    before = waiting().state
    with pytest.raises(CorruptJournal, match=r"nothing has the id '(call|apr)_9'") as raised:
        apply(before, recorded(before.seq + 1, BEGAN, event))
    assert (raised.value.run_id, raised.value.seq) == ("run_1", before.seq + 1)


@pytest.mark.parametrize(
    ("event", "why"),
    [
        (begun().recorded[0].event, "the run was started before"),
        (replied(1), "call_1 was proposed before"),
        (asked(1), "apr_1 was requested before"),
    ],
)
def test_what_can_happen_once_can_not_happen_twice(event: Event, why: str) -> None:
    """A reply that was appended twice would make its calls run again."""
    with pytest.raises(CorruptJournal, match=why):
        fold(waiting().then(event).recorded)


def test_a_gap_or_a_repetition_can_not_be_folded() -> None:
    one, two, three, four = waiting().recorded
    for wrong in ([one, three], [one, two, four], [one, two, two], [one, three, two]):
        with pytest.raises(CorruptJournal, match="it follows"):
            fold(wrong)


def test_a_journal_begins_with_its_start() -> None:
    first, second, *_ = waiting().recorded
    for wrong in ([second], [replace(first, seq=2)], [replace(second, seq=1)]):
        with pytest.raises(CorruptJournal, match="begins with run_started at 1"):
            fold(wrong)


def test_no_events_are_no_journal() -> None:
    with pytest.raises(CorruptJournal):
        fold([])


@settings(max_examples=75, deadline=None)
@given(legal_histories(), st.data())
def test_whatever_is_missing_or_out_of_order_is_a_corrupt_journal(
    history: History, data: st.DataObject
) -> None:
    """Renumbered, so that only what the events say can tell."""
    events = [one.event for one in history.recorded]
    shuffled = data.draw(st.lists(st.sampled_from(events), max_size=8))
    with suppress(CorruptJournal):
        fold([recorded(seq, BEGAN, event) for seq, event in enumerate(shuffled, 1)])


def test_a_refused_event_leaves_the_state_as_it_was() -> None:
    before = waiting().state
    kept = replace(before)
    with pytest.raises(CorruptJournal):
        apply(before, recorded(before.seq + 1, BEGAN, CallReturned(call_id=CallId("?"), output=1)))
    assert before == kept


def test_time_stands_in_the_events_alone() -> None:
    state = waiting().state
    assert state.started_at == BEGAN
    assert state.updated_at == BEGAN + timedelta(seconds=3)
