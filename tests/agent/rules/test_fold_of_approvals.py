"""The fold of what people are asked and say, of previews, and of a run that is taken on again."""

from __future__ import annotations

from datetime import timedelta

import pytest

from agent.errors import CorruptJournal
from agent.rules.calls import Call
from agent.rules.events import Event, RunFailed, RunFinished
from agent.rules.fold import fold
from agent.rules.ids import ApprovalId, CallId
from agent.rules.state import Approval
from tests.agent.rules.histories import (
    ALICE,
    BOB,
    FRANK,
    REFUND,
    TWO_OF_FINANCE,
    History,
    answered,
    approved,
    asked,
    begun,
    denied,
    in_review,
    judged,
    previewed,
    questioned,
    reopened,
    replied,
    settled,
    steered,
    voted,
    waiting,
)

FAILED = RunFailed(error="it was tried too often")
C1 = CallId("call_1")


def call_of(history: History) -> Call:
    return history.state.calls[C1]


def approval_of(history: History, number: int = 1) -> Approval:
    return history.state.approvals[ApprovalId(f"apr_{number}")]


# Votes and answers


def test_votes_gather_and_the_question_stays_open() -> None:
    history = waiting(TWO_OF_FINANCE).then(voted(1, note="fine"))
    approval = approval_of(history)
    assert (approval.status, call_of(history).status) == ("pending", "waiting")
    assert [(v.voted.by, v.voted.note, v.at) for v in approval.votes] == [
        (BOB, "fine", history.now)
    ]


def test_the_yeses_are_the_votes_and_the_decision_each_person_once() -> None:
    history = waiting(TWO_OF_FINANCE).then(voted(1))
    voted_at = history.now
    history = history.then(approved(1, FRANK))
    assert [(word.by, at) for word, at in approval_of(history).yeses] == [
        (BOB, voted_at),
        (FRANK, history.now),
    ]
    twice = waiting(TWO_OF_FINANCE).then(voted(1)).then(approved(1))
    assert [(word.by, at) for word, at in approval_of(twice).yeses] == [(BOB, twice.now)]


def test_votes_for_what_was_denied_are_yeses_still() -> None:
    history = waiting(TWO_OF_FINANCE).then(voted(1)).then(denied(1, by=FRANK))
    assert [word.by for word, _ in approval_of(history).yeses] == [BOB]


def test_a_question_waits_and_its_answer_is_the_result() -> None:
    assert call_of(questioned()).status == "waiting"
    history = questioned().then(answered(1, "staging"))
    result = call_of(history).result
    assert result is not None
    assert (result.outcome, result.output, result.by) == ("answered", "staging", ALICE)
    assert approval_of(history).status == "answered"


def test_a_question_closes_with_its_run_and_is_asked_again_when_that_is_taken_on() -> None:
    history = questioned().then(FAILED)
    assert approval_of(history).status == "cancelled"
    assert call_of(history.then(reopened())).status == "asking"


# Previews


def with_preview(must_match: bool = True) -> History:
    history = begun().then(replied(1))
    history = history.then(judged(1, "ask", can_preview=True, preview_must_match=must_match))
    return history.then(previewed(1, "to card 42"))


def test_a_preview_is_kept_until_the_call_is_judged_again() -> None:
    history = with_preview()
    assert (call_of(history).preview, call_of(history).previewed_at) == ("to card 42", history.now)
    again = call_of(history.then(judged(1, "ask", can_preview=True)))
    assert (again.preview, again.previewed_at) == (None, None)


def test_a_preview_that_failed_says_why() -> None:
    history = begun().then(replied(1)).then(judged(1, "ask", can_preview=True))
    history = history.then(previewed(1, None, "it timed out"))
    call = call_of(history)
    assert (call.preview, call.preview_error, call.previewed_at) == (
        None,
        "it timed out",
        history.now,
    )


@pytest.mark.parametrize(("said", "changes"), [("to card 42", 0), ("to card 43", 1), (None, 1)])
def test_a_preview_at_the_start_is_compared_with_the_one_that_was_approved(
    said: str | None, changes: int
) -> None:
    history = with_preview().then(asked(1, preview="to card 42")).then(approved(1))
    history = history.then(previewed(1, said))
    call = call_of(history)
    assert call.preview_changes == changes
    if not changes:
        assert (call.status, call.rechecked_at) == ("ready", history.now)
    else:
        assert (call.status, call.preview) == ("asking", said)
        assert call.again_because == "what it would do has changed since it was approved"


def test_a_call_that_was_approved_without_a_preview_still_has_none() -> None:
    history = begun().then(replied(1))
    history = history.then(judged(1, "ask", can_preview=True, preview_must_match=True))
    history = history.then(previewed(1, None, "it timed out")).then(asked(1)).then(approved(1))
    assert call_of(history.then(previewed(1, None, "again"))).status == "ready"
    assert call_of(history.then(previewed(1, "to card 42"))).status == "asking"


def test_why_it_was_asked_again_is_forgotten_with_its_yes() -> None:
    history = with_preview().then(asked(1, preview="to card 42")).then(approved(1))
    history = history.then(previewed(1, "to card 43"))
    history = history.then(asked(1, approval=2, preview="to card 43", supersedes=1))
    call = call_of(history.then(approved(2)))
    assert (call.again_because, call.preview_changes, call.approved_id) == (None, 1, "apr_2")


# What had a yes


def test_a_call_knows_the_approval_that_said_yes_to_it() -> None:
    assert call_of(waiting()).approved_id is None
    assert call_of(waiting().then(approved(1))).approved_id == "apr_1"
    # A review comes behind it and asks something else.
    assert call_of(in_review()).approved_id == "apr_1"
    assert call_of(in_review().then(settled(2, "not_happened"))).approved_id == "apr_1"


def test_what_is_steered_is_another_call_that_has_no_yes() -> None:
    history = waiting().then(approved(1)).then(judged(1, "ask"))
    history = history.then(asked(1, approval=2, supersedes=1))
    assert call_of(history).approved_id == "apr_1"
    assert call_of(history.then(steered(2, {**REFUND, "amount": 90}))).approved_id is None


# When an approval was closed


@pytest.mark.parametrize(
    "event",
    [
        approved(1),
        denied(1),
        steered(1, REFUND),
        asked(1, approval=2, supersedes=1),
        FAILED,
        RunFinished(answer="x"),
    ],
    ids=lambda event: event.kind,
)
def test_an_approval_is_closed_by_what_ends_it(event: Event) -> None:
    assert approval_of(waiting()).closed_at is None
    history = waiting().then(event)
    assert approval_of(history).closed_at == history.now
    later = history.then(*([reopened()] if event is FAILED else []))
    assert approval_of(later).closed_at == history.now


def test_what_was_decided_is_not_closed_once_more_when_it_is_asked_again() -> None:
    history = waiting().then(approved(1))
    decided_at = history.now
    history = history.then(judged(1, "ask")).then(asked(1, approval=2, supersedes=1))
    approval = approval_of(history)
    assert (approval.status, approval.closed_at) == ("approved", decided_at)
    assert approval.superseded_by == "apr_2"


# A run that is taken on again


def test_a_run_that_is_taken_on_again_is_open_and_remembers_its_outage() -> None:
    history = waiting().then(FAILED)
    failed_at = history.now
    history = history.then(reopened(), after=timedelta(hours=1))
    state = history.state
    assert (state.ending, state.ended_at, state.error) == (None, None, None)
    assert state.outages == ((failed_at, history.now),)
    assert state.reopened == 1
    assert history.then(FAILED).then(reopened()).state.reopened == 2


def test_what_was_asked_when_the_run_failed_is_asked_again_and_told_why() -> None:
    history = waiting().then(FAILED).then(reopened())
    call = call_of(history)
    assert call.status == "asking"
    assert call.again_because == "the run had failed, and was taken on again"
    assert approval_of(history).status == "cancelled"


def test_what_was_decided_before_the_run_failed_stays_decided() -> None:
    history = waiting().then(approved(1)).then(FAILED).then(reopened())
    assert (call_of(history).status, call_of(history).approved_id) == ("ready", "apr_1")


def test_a_review_outlives_the_failure_and_the_reopening() -> None:
    history = in_review().then(FAILED).then(reopened())
    assert (call_of(history).status, approval_of(history, 2).status) == ("unknown", "pending")


def test_nothing_that_has_not_ended_can_be_taken_on_again() -> None:
    with pytest.raises(CorruptJournal, match="the run had not ended"):
        fold(waiting().then(reopened()).recorded)
