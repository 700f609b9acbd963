"""What comes next once a run has ended, and when it is taken on again."""

from __future__ import annotations

import pytest

from agent.rules.events import ModelFailed, RunFailed
from agent.rules.ids import CallId
from agent.rules.steps import (
    AskModel,
    AwaitCalls,
    Done,
    Fail,
    Finish,
    JudgeCalls,
    PreviewCalls,
    RecoverCall,
    RequestApprovals,
    RequestReview,
    StartCalls,
    Suspend,
    next_step,
)
from tests.agent.rules.histories import (
    TERM,
    History,
    approved,
    asked,
    begun,
    in_review,
    judged,
    left_unknown,
    looked_up,
    previewed,
    reopened,
    replied,
    returned,
    settled,
    started,
    waiting,
)
from tests.agent.rules.stepping import Row, follow

C1 = CallId("call_1")

TABLES: dict[str, list[Row]] = {
    "taken on again while people were asked": [
        (replied(1), JudgeCalls((C1,))),
        (judged(1, "ask", can_preview=True), PreviewCalls((C1,))),
        (previewed(1, "to card 42"), RequestApprovals((C1,))),
        (asked(1, preview="to card 42"), Suspend("approvals")),
        (RunFailed(error="tried too often"), Done()),
        # What would happen may be another thing by now.
        (reopened(), PreviewCalls((C1,))),
        (previewed(1, "to card 42"), RequestApprovals((C1,))),
        (asked(1, approval=2, preview="to card 42", supersedes=1), Suspend("approvals")),
        (approved(2), StartCalls((C1,))),
    ],
    "taken on again after the model failed": [
        (ModelFailed(error="no such model"), Fail("no such model")),
        (RunFailed(error="no such model"), Done()),
        (reopened(), AskModel()),
        (replied(text="Here."), Finish("Here.")),
    ],
    "taken on again after empty answers": [
        (replied(), AskModel()),
        (replied(), AskModel()),
        (replied(), Fail("The model gave 3 empty answers in a row.")),
        (RunFailed(error="empty"), Done()),
        (reopened(), AskModel()),
        (replied(), AskModel()),
        (replied(), AskModel()),
        (replied(), Fail("The model gave 3 empty answers in a row.")),
    ],
}


@pytest.mark.parametrize("rows", TABLES.values(), ids=TABLES.keys())
def test_every_prefix_has_its_step(rows: list[Row]) -> None:
    follow(rows)


FAILED = RunFailed(error="it can't go on")


@pytest.mark.parametrize(
    "history",
    [waiting(), started(), started("once"), begun(), begun().then(replied(1)), in_review()],
)
def test_nothing_is_begun_after_the_end(history: History) -> None:
    history = history.then(FAILED)
    assert next_step(history.state, history.now + 2 * TERM) == Done()


def test_what_is_in_flight_at_the_end_is_heard_out() -> None:
    history = started("once").then(FAILED)
    assert next_step(history.state, history.now, {C1}) == AwaitCalls()
    assert next_step(history.then(returned(1)).state, history.now) == Done()


def test_a_lost_effect_is_asked_about_and_looked_up_even_after_the_end() -> None:
    history = started("once").then(FAILED).then(left_unknown(1))
    assert next_step(history.state, history.now) == RequestReview(C1)
    history = history.then(asked(1, approval=2, kind="review"))
    assert next_step(history.state, history.now) == Done()
    history = history.then(settled(2, "check"))
    assert next_step(history.state, history.now) == RecoverCall(C1)
    lost_again = history.then(left_unknown(1))
    assert next_step(lost_again.state, lost_again.now) == RequestReview(C1)


def test_what_did_not_happen_by_the_end_is_not_run_any_more() -> None:
    history = in_review().then(FAILED).then(settled(2, "check")).then(looked_up(1))
    assert next_step(history.state, history.now) == Done()


def test_a_failed_run_that_is_taken_on_again_goes_on_where_it_was() -> None:
    history = started("once").then(FAILED).then(reopened())
    deadline = history.state.calls[C1].deadline
    assert deadline is not None
    assert next_step(history.state, history.now) == Suspend("retry", until=deadline)
    assert next_step(history.state, deadline) == RecoverCall(C1)
    in_reply = begun().then(replied(1)).then(FAILED).then(reopened())
    assert next_step(in_reply.state, in_reply.now) == JudgeCalls((C1,))
