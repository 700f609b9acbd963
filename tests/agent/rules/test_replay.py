"""Replaying: a right history shows no difference, and each kind of wrong one does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from agent.rules.budgets import Budget
from agent.rules.events import CallRefused, CallReturned, Event, ModelFailed, RunFailed, RunFinished
from agent.rules.given_up import never_ended, no_progress
from agent.rules.ids import CallId, Principal
from agent.rules.interventions import RunCancelled, StopRequested
from agent.rules.parts import Patience
from agent.rules.recorded import Recorded
from agent.rules.replaying.replay import replay
from tests.agent.rules.golden import JOURNALS, read_golden
from tests.agent.rules.happenings import (
    HOUR,
    LEGAL,
    escalated,
    expired,
    held,
    reminded,
    said,
    stop_wanted,
    waits,
)
from tests.agent.rules.histories import (
    SECOND,
    History,
    approved,
    asked,
    begun,
    call_started,
    denied,
    in_review,
    judged,
    looked_up,
    previewed,
    replied,
    returned,
    started,
    waiting,
)

C1 = CallId("call_1")
PATIENT = Patience(expires=5 * HOUR, remind=2 * HOUR, escalate=(LEGAL,))


def refunded() -> History:
    """A refund from its start to its end."""
    history = waiting().then(approved(1))
    history = history.then(call_started(1, history.now + SECOND)).then(returned(1))
    return history.then(replied(text="Done.", asked_at=7)).then(RunFinished(answer="Done."))


def numbered(recorded: list[Recorded]) -> list[Recorded]:
    """As whoever changes a journal would number it."""
    return [replace(one, seq=seq) for seq, one in enumerate(recorded, 1)]


def found(history: History, budget: Budget | None = None) -> list[tuple[int, str, str]]:
    differences = replay(history.recorded, budget)
    return [(one.seq, one.expected, one.found) for one in differences]


@pytest.mark.parametrize("name", sorted(path.stem for path in JOURNALS.glob("*.jsonl")))
def test_this_build_would_do_what_released_ones_did(name: str) -> None:
    assert replay(read_golden(name)) == []


def test_what_was_done_is_what_would_be_done() -> None:
    assert replay(refunded().recorded) == []


@pytest.mark.parametrize(
    ("dropped", "seq", "expected"),
    [
        # The verdict: then the question has nothing to go by.
        (3, 3, "JudgeCalls"),
        # The question, which was decided.
        (4, 4, "nothing has the id 'apr_1'"),
        # The yes.
        (5, 5, "Suspend"),
        # The start: what returns was never begun.
        (6, 6, "StartCalls"),
        # The result.
        (7, 7, "asked at 7"),
        # The model's last word.
        (8, 8, "AskModel"),
    ],
)
def test_what_is_missing_shows(dropped: int, seq: int, expected: str) -> None:
    recorded = list(refunded().recorded)
    del recorded[dropped - 1]
    first, *_ = replay(numbered(recorded))
    assert first.seq == seq
    assert expected in first.expected


def test_a_gap_shows() -> None:
    recorded = list(refunded().recorded)
    del recorded[3]
    difference = replay(recorded)[-1]
    assert (difference.seq, difference.found) == (5, "approval_decided")
    assert "it follows 3" in difference.expected


@pytest.mark.parametrize("first", [2, 3, 5, 7, 8])
def test_another_order_shows(first: int) -> None:
    recorded = list(refunded().recorded)
    recorded[first - 1], recorded[first] = recorded[first], recorded[first - 1]
    times = [one.at for one in refunded().recorded]
    swapped = [replace(one, at=at) for one, at in zip(recorded, times, strict=True)]
    assert replay(numbered(swapped)) != []


@pytest.mark.parametrize("why", ["a fault of ours: ValueError: a\nb", "processes ended"])
def test_a_run_may_be_given_up_at_any_time(why: str) -> None:
    assert found(begun().then(RunFailed(error=no_progress(5, why)))) == []


def test_a_run_fails_where_its_model_does() -> None:
    history = begun().then(ModelFailed(error="no such model"))
    assert found(history.then(RunFailed(error="no such model"))) == []


WRONG: dict[str, tuple[Callable[[], History], Event, str]] = {
    "a failure that nothing failed": (begun, RunFailed(error="The model failed"), "AskModel"),
    "a failure of other words": (
        lambda: begun().then(ModelFailed(error="no such model")),
        RunFailed(error="no credit left"),
        "Fail",
    ),
    "a call given up that was begun once": (
        started,
        RunFailed(error=never_ended("process_refund", 5)),
        "Suspend",
    ),
    "a result of what was never begun": (
        lambda: begun().then(replied(1)).then(judged(1, "allow")),
        returned(1),
        "StartCalls",
    ),
    "a start without a yes": (waiting, call_started(1, waiting().now), "Suspend"),
    "a start after a no": (
        lambda: waiting().then(denied(1)),
        call_started(1, waiting().now),
        "AskModel",
    ),
    "a start over a message": (
        lambda: begun().then(replied(1)).then(judged(1)).then(said()),
        call_started(1, begun().now),
        "DropCalls",
    ),
    "a start while it is held": (
        lambda: waiting().then(approved(1)).then(held()),
        call_started(1, waiting().now),
        "Suspend",
    ),
    "a start after a stop": (
        lambda: waiting().then(approved(1)).then(stop_wanted()),
        call_started(1, waiting().now),
        "Cancel",
    ),
    "a second start": (started, call_started(1, started().now, 2), "Suspend"),
    "a start that is not the next": (
        lambda: waiting().then(approved(1)),
        call_started(1, waiting().now, 2),
        "StartCalls",
    ),
    "an end over a message": (
        lambda: begun().then(said()).then(replied(text="Done.")),
        RunFinished(answer="Done."),
        "AskModel",
    ),
    "an end over a call": (waiting, RunFinished(answer="Done."), "Suspend"),
    "another answer": (
        lambda: begun().then(replied(text="Done.")),
        RunFinished(answer="All done."),
        "Finish",
    ),
    "an end that nobody wanted": (begun, RunCancelled(), "AskModel"),
    "an end while a call may be running": (
        lambda: started().then(stop_wanted()),
        RunCancelled(),
        "Suspend",
    ),
    "a refusal for a message that nobody sent": (
        lambda: begun().then(replied(1)),
        CallRefused(call_id=C1, code="newer_message", message="newer"),
        "JudgeCalls",
    ),
    "a refusal of what people are asked about": (
        waiting,
        CallRefused(call_id=C1, code="policy", message="no"),
        "Suspend",
    ),
    "a refusal at a start for what can't be found out then": (
        lambda: begun().then(replied(1)).then(judged(1)),
        CallRefused(call_id=C1, code="denied_before", message="no"),
        "StartCalls",
    ),
    "a question that the policy did not want": (
        lambda: begun().then(replied(1)).then(judged(1)),
        asked(1),
        "StartCalls",
    ),
    "a verdict out of the blue": (waiting, judged(1), "Suspend"),
    "a question in place of one that is open": (
        waiting,
        asked(1, approval=2, supersedes=1),
        "Suspend",
    ),
    "a review of what is not unknown": (
        waiting,
        asked(1, approval=2, kind="review"),
        "Suspend",
    ),
    "a second review": (in_review, asked(1, approval=3, kind="review"), "Suspend"),
    "a refusal of what is to be previewed": (
        lambda: begun().then(replied(1)).then(judged(1, "ask", can_preview=True)),
        CallRefused(call_id=C1, code="policy", message="no"),
        "PreviewCalls",
    ),
    "a stop by a rule at the very beginning": (
        begun,
        StopRequested(by=Principal("policy:silence")),
        "no stop by a rule",
    ),
    "a refusal for a message of what people are asked about": (
        lambda: (
            begun()
            .then(replied(1, 2))
            .then(judged(1, "ask"), judged(2, "ask"))
            .then(asked(1))
            .then(said())
        ),
        CallRefused(call_id=C1, code="newer_message", message="newer"),
        "DropCalls",
    ),
    "a preview of nothing": (waiting, previewed(1, "to card 42"), "Suspend"),
    "a look-up of what was not begun": (waiting, looked_up(1), "Suspend"),
    "a reminder too early": (lambda: waits(PATIENT), reminded(1), "Suspend"),
    "a silence too early": (lambda: waits(PATIENT), expired(1), "Suspend"),
    "others are asked too early": (lambda: waits(PATIENT), escalated(1), "Suspend"),
    "a stop by a rule without a silence": (
        waiting,
        StopRequested(by=Principal("policy:silence")),
        "no stop by a rule",
    ),
    "a stop by a budget that was not reached": (
        waiting,
        StopRequested(by=Principal("policy:budget")),
        "no stop by a rule",
    ),
    "a reply while people are asked": (waiting, replied(text="Done.", asked_at=4), "Suspend"),
    "a reply to what was not there yet": (
        begun,
        replied(text="Done.", asked_at=3),
        "a reply to what had been there (asked at 3)",
    ),
    "a reply to nothing": (
        begun,
        replied(text="Done.", asked_at=0),
        "a reply to what had been there (asked at 0)",
    ),
    "a second reply to one question": (
        lambda: begun().then(replied()),
        replied(text="Done.", asked_at=1),
        "AskModel",
    ),
    "a failure of a model that was not asked": (waiting, ModelFailed(error="busy"), "Suspend"),
    "a result that was found where nobody looked": (
        waiting,
        CallReturned(call_id=C1, output="paid", is_found=True),
        "Suspend",
    ),
}


@pytest.mark.parametrize(("history", "event", "expected"), WRONG.values(), ids=WRONG.keys())
def test_what_should_not_have_been_shows(
    history: Callable[[], History], event: Event, expected: str
) -> None:
    right = history()
    assert found(right) == []
    wrong = right.then(event)
    assert found(wrong)[-1] == (wrong.length, expected, event.kind)
