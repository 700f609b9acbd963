"""The fold of what becomes of an effect: look-ups, and answers that come after all."""

from __future__ import annotations

import pytest

from agent.rules.calls import CallResult
from agent.rules.events import CallReturned, RunFailed, RunFinished
from agent.rules.ids import CallId
from agent.rules.parts import Receipt
from tests.agent.rules.histories import (
    SECOND,
    History,
    asked,
    call_started,
    in_review,
    judged,
    left_unknown,
    looked_up,
    returned,
    settled,
    started,
)
from tests.agent.rules.test_fold_of_approvals import approval_of, call_of

FAILED = RunFailed(error="it was tried too often")
C1 = CallId("call_1")


def test_what_the_outside_says_did_not_happen_is_known_until_it_is_started_again() -> None:
    history = in_review().then(settled(2, "check")).then(looked_up(1))
    assert call_of(history).status == "ready"
    assert call_of(history).receipt == Receipt(status="rejected")
    assert call_of(history.then(call_started(1, history.now, attempt=2))).receipt is None


def committed(output: str, external_id: str | None = "re_1") -> CallReturned:
    receipt = Receipt(status="committed", external_id=external_id)
    return CallReturned(call_id=C1, output=output, receipt=receipt)


@pytest.mark.parametrize(
    "ended",
    [
        started().then(returned(1, "first")),
        started().then(CallReturned(call_id=C1, output="first")),
        in_review().then(settled(2, "happened")),
        in_review().then(settled(2, "give_up")),
    ],
)
def test_a_second_answer_never_replaces_the_first(ended: History) -> None:
    later = ended.then(committed("second"))
    assert call_of(later).result == call_of(ended).result
    assert call_of(later).ended_at == call_of(ended).ended_at
    assert later.state.seq == ended.state.seq + 1


@pytest.mark.parametrize(
    ("ended", "external_id"),
    [
        # Nobody knew, and now somebody does.
        (in_review().then(settled(2, "give_up")), "re_2"),
        (started().then(CallReturned(call_id=C1, output="first")), "re_2"),
        # What was known stays.
        (started().then(committed("first")), "re_1"),
        (in_review().then(settled(2, "happened")), None),
    ],
)
def test_a_second_answer_may_still_tell_what_became_of_the_effect(
    ended: History, external_id: str | None
) -> None:
    receipt = call_of(ended.then(committed("second", "re_2"))).receipt
    assert receipt is not None
    assert (receipt.status, receipt.external_id) == ("committed", external_id)


def test_a_failure_that_was_answered_is_no_effect_that_is_known_to_be_there() -> None:
    said_no = CallReturned(
        call_id=C1, is_error=True, output="no room", receipt=Receipt(status="committed")
    )
    assert call_of(started().then(said_no)).result == CallResult("error", "no room", is_answer=True)
    left = started().then(CallReturned(call_id=C1, is_error=True, output="no answer"))
    assert call_of(left).result == CallResult("error", "no answer")
    late = call_of(left.then(said_no)).result
    assert late == CallResult("error", "no answer", is_answer=True)


def test_a_second_answer_without_a_receipt_takes_none_away() -> None:
    ended = in_review().then(settled(2, "give_up"))
    later = ended.then(CallReturned(call_id=C1, output="second"))
    assert call_of(later).receipt == call_of(ended).receipt


@pytest.mark.parametrize(
    "history", [in_review(), in_review().then(FAILED), in_review().then(RunFinished(answer="x"))]
)
def test_an_answer_after_all_ends_the_call_and_closes_its_review(history: History) -> None:
    history = history.then(committed("after all"))
    review = approval_of(history, 2)
    assert (review.status, review.closed_at) == ("cancelled", history.now)
    result = call_of(history).result
    assert result is not None
    assert (result.outcome, result.output) == ("ok", "after all")


def test_an_answer_after_all_ends_what_people_were_asked_to_allow_once_more() -> None:
    history = started().then(judged(1, "ask")).then(asked(1))
    history = history.then(returned(1))
    assert (approval_of(history).status, call_of(history).status) == ("cancelled", "ended")


def test_an_attempt_after_a_look_up_is_the_next_one() -> None:
    history = started("once").then(looked_up(1))
    history = history.then(call_started(1, history.now, attempt=2)).then(
        left_unknown(1), after=SECOND
    )
    assert (call_of(history).attempts, call_of(history).operation_id) == (2, "op_1")
