"""What comes next when people say something, hold a run, or stop it, and when time has come for something."""

from __future__ import annotations

from datetime import timedelta

import pytest

from agent.rules.events import CallRefused, ModelFailed, RunFailed
from agent.rules.ids import CallId
from agent.rules.interventions import RunCancelled
from agent.rules.parts import Effect, Patience
from agent.rules.silence import Due
from agent.rules.steps import (
    AskModel,
    AwaitCalls,
    Cancel,
    Done,
    DropCalls,
    Fail,
    Finish,
    JudgeCalls,
    MarkTime,
    RecoverCall,
    RequestApprovals,
    RequestReview,
    StartCalls,
    Suspend,
    has_begun,
    next_step,
)
from tests.agent.rules.deciding import A1
from tests.agent.rules.happenings import (
    HOUR,
    LEGAL,
    asked_again,
    escalated,
    expired,
    held,
    reminded,
    resumed,
    said,
    stop_wanted,
    waits,
)
from tests.agent.rules.histories import (
    BEGAN,
    REFUND,
    SECOND,
    TERM,
    History,
    approved,
    asked,
    begun,
    call_started,
    denied,
    in_review,
    judged,
    left_unknown,
    looked_up,
    reopened,
    replied,
    returned,
    settled,
    started,
    steered,
    waiting,
)
from tests.agent.rules.stepping import Row, follow

C1, C2, C3 = CallId("call_1"), CallId("call_2"), CallId("call_3")
LATER = BEGAN + HOUR


def newer(number: int) -> CallRefused:
    return CallRefused(call_id=CallId(f"call_{number}"), code="newer_message", message="newer")


TABLES: dict[str, list[Row]] = {
    "said before the model has answered": [
        (said(), AskModel()),
        (replied(text="Done.", asked_at=2), Finish("Done.")),
    ],
    "said while the model thinks": [
        (said(), AskModel()),
        # It had been asked before; its last word is none.
        (replied(text="Done.", asked_at=1), AskModel()),
        (replied(text="Well.", asked_at=3), Finish("Well.")),
    ],
    "said while the model thinks of calls": [
        (said(), AskModel()),
        (replied(1, 2, asked_at=1), DropCalls((C1, C2))),
        (newer(1), DropCalls((C2,))),
        (newer(2), AskModel()),
        (replied(3, asked_at=5), JudgeCalls((C3,))),
    ],
    "said before a call begins": [
        (replied(1, 2), JudgeCalls((C1, C2))),
        (judged(1), JudgeCalls((C2,))),
        (judged(2, "ask"), StartCalls((C1,))),
        (said(), DropCalls((C1, C2))),
        (newer(1), DropCalls((C2,))),
        (newer(2), AskModel()),
    ],
    "said while a call is carried out": [
        (replied(1), JudgeCalls((C1,))),
        (judged(1), StartCalls((C1,))),
        (call_started(1, LATER), Suspend("retry", until=LATER + TERM)),
        (said(), Suspend("retry", until=LATER + TERM)),
        (returned(1), AskModel()),
    ],
    "said while people are asked": [
        (replied(1, 2), JudgeCalls((C1, C2))),
        (judged(1, "ask"), JudgeCalls((C2,))),
        (judged(2, "ask"), RequestApprovals((C1, C2))),
        (asked(1), RequestApprovals((C2,))),
        (said(), DropCalls((C2,))),
        (newer(2), Suspend("approvals")),
        # A message decides nothing, and takes nothing back.
        (approved(1), StartCalls((C1,))),
        (call_started(1, LATER), Suspend("retry", until=LATER + TERM)),
        (returned(1), AskModel()),
    ],
    "said before a steered call begins": [
        (replied(1), JudgeCalls((C1,))),
        (judged(1, "ask"), RequestApprovals((C1,))),
        (asked(1), Suspend("approvals")),
        (said(), Suspend("approvals")),
        (steered(1, {**REFUND, "amount": 90}), StartCalls((C1,))),
        (judged(1, "ask", args={**REFUND, "amount": 90}), RequestApprovals((C1,))),
        (asked(1, approval=2, supersedes=1), Suspend("approvals")),
    ],
    "said before what nobody decided is asked again": [
        (replied(1), JudgeCalls((C1,))),
        (judged(1, "ask"), RequestApprovals((C1,))),
        (asked(1), Suspend("approvals")),
        (said(), Suspend("approvals")),
        (expired(1), Suspend("approvals")),
        (asked_again(1), RequestApprovals((C1,))),
    ],
    "said before the next of the chain is asked": [
        (replied(1), JudgeCalls((C1,))),
        (judged(1, "ask"), RequestApprovals((C1,))),
        (asked(1), Suspend("approvals")),
        (said(), Suspend("approvals")),
        (expired(1, "escalate"), RequestApprovals((C1,))),
    ],
    "said before what did not happen is begun once more": [
        (replied(1), JudgeCalls((C1,))),
        (judged(1, effect="once"), StartCalls((C1,))),
        (call_started(1, LATER), Suspend("retry", until=LATER + TERM)),
        (looked_up(1), StartCalls((C1,))),
        (said(), StartCalls((C1,))),
    ],
    "said to a model that gives nothing": [
        (replied(), AskModel()),
        (replied(asked_at=2), AskModel()),
        (said(), AskModel()),
        (replied(asked_at=3), AskModel()),
        (replied(asked_at=5), Fail("The model gave 3 empty answers in a row.")),
    ],
    "held before the model is asked": [
        (held(), Suspend("hold")),
        (said(), Suspend("hold")),
        (resumed(), AskModel()),
    ],
    "held while the model thinks": [
        (held(), Suspend("hold")),
        (replied(1), Suspend("hold")),
        (resumed(), JudgeCalls((C1,))),
    ],
    "held before the last word": [
        (held(), Suspend("hold")),
        (replied(text="Done."), Suspend("hold")),
        (resumed(), Finish("Done.")),
    ],
    "held before a start": [
        (replied(1), JudgeCalls((C1,))),
        (judged(1), StartCalls((C1,))),
        (held(), Suspend("hold")),
        (resumed(), StartCalls((C1,))),
    ],
    "decided while it is held": [
        (replied(1), JudgeCalls((C1,))),
        (judged(1, "ask"), RequestApprovals((C1,))),
        (asked(1), Suspend("approvals")),
        (held(), Suspend("hold")),
        (approved(1), Suspend("hold")),
        (resumed(), StartCalls((C1,))),
    ],
    "nobody decides, and the call has ended": [
        (replied(1), JudgeCalls((C1,))),
        (judged(1, "ask"), RequestApprovals((C1,))),
        (asked(1), Suspend("approvals")),
        (expired(1, "deny"), AskModel()),
    ],
    "nobody decides, and it is asked again": [
        (replied(1), JudgeCalls((C1,))),
        (judged(1, "ask"), RequestApprovals((C1,))),
        (asked(1), Suspend("approvals")),
        (expired(1), Suspend("approvals")),
        (asked_again(1), RequestApprovals((C1,))),
        (asked(1, approval=2, supersedes=1), Suspend("approvals")),
        (denied(2), AskModel()),
    ],
    "stopped while people are asked": [
        (replied(1), JudgeCalls((C1,))),
        (judged(1, "ask"), RequestApprovals((C1,))),
        (asked(1), Suspend("approvals")),
        (stop_wanted(), Cancel()),
        (RunCancelled(), Done()),
    ],
    "stopped while it is held": [
        (held(), Suspend("hold")),
        (stop_wanted(), Cancel()),
    ],
    "stopped before a start": [
        (replied(1), JudgeCalls((C1,))),
        (judged(1), StartCalls((C1,))),
        (stop_wanted(), Cancel()),
    ],
    "stopped before the last word": [
        (replied(text="Done."), Finish("Done.")),
        (stop_wanted(), Cancel()),
    ],
    "stopped while a call is carried out": [
        (replied(1, 2), JudgeCalls((C1, C2))),
        (judged(1), JudgeCalls((C2,))),
        (judged(2), StartCalls((C1, C2))),
        (call_started(1, LATER), StartCalls((C2,))),
        (stop_wanted(), Suspend("retry", until=LATER + TERM)),
        (returned(1), Cancel()),
    ],
}


@pytest.mark.parametrize("rows", TABLES.values(), ids=TABLES.keys())
def test_every_prefix_has_its_step(rows: list[Row]) -> None:
    follow(rows)


def test_time_comes_before_everything_but_a_stop() -> None:
    history = waits(Patience(remind=HOUR))
    due = MarkTime((Due("remind", A1, history.now + HOUR, 1),))
    for meanwhile in (history, history.then(held()), history.then(said())):
        assert next_step(meanwhile.state, history.now + HOUR) == due
    stopped = history.then(stop_wanted())
    assert next_step(stopped.state, history.now + HOUR) == Cancel()


def test_whoever_waits_is_woken_by_the_first_time_that_comes() -> None:
    history = waits(Patience(expires=3 * HOUR, remind=2 * HOUR, escalate=(LEGAL,)))
    began = history.now
    assert next_step(history.state, began) == Suspend("approvals", until=began + HOUR)
    history = history.then(escalated(1), after=HOUR)
    assert next_step(history.state, history.now) == Suspend("approvals", until=began + 2 * HOUR)
    history = history.then(held())
    assert next_step(history.state, history.now) == Suspend("hold", until=began + 2 * HOUR)
    history = history.then(reminded(1), after=HOUR)
    assert next_step(history.state, history.now) == Suspend("hold", until=began + 3 * HOUR)


def waits_beside_a_running_call(started_at_hour: float) -> History:
    history = begun().then(replied(1, 2)).then(judged(1, "ask"), judged(2))
    history = history.then(asked(1, patience=Patience(remind=HOUR)))
    return history.then(call_started(2, history.now + started_at_hour * HOUR))


@pytest.mark.parametrize(("hours", "first"), [(0.0, TERM), (2.0, HOUR)])
def test_a_reminder_and_a_deadline_whichever_is_first(hours: float, first: timedelta) -> None:
    history = waits_beside_a_running_call(hours)
    asked_at = history.now - SECOND
    assert next_step(history.state, history.now) == Suspend("retry", until=asked_at + first)


def test_while_calls_are_in_flight_time_is_looked_at_too() -> None:
    history = waits_beside_a_running_call(0)
    reminder = history.now - SECOND + HOUR
    assert next_step(history.state, history.now, {C2}) == AwaitCalls(until=reminder)
    history = history.then(held())
    assert next_step(history.state, history.now, {C2}) == AwaitCalls(until=reminder)


def test_what_became_of_a_call_is_found_out_while_the_run_is_held() -> None:
    history = started("once")
    deadline = history.now + TERM
    history = history.then(held())
    assert next_step(history.state, deadline - SECOND) == Suspend("hold", until=deadline)
    assert next_step(history.state, deadline) == RecoverCall(C1)
    assert next_step(history.state, deadline, {C1}) == AwaitCalls()
    history = history.then(left_unknown(1))
    assert next_step(history.state, deadline) == RequestReview(C1)


@pytest.mark.parametrize("effect", ["read", "idempotent"])
def test_nothing_is_run_again_while_the_run_is_held(effect: Effect) -> None:
    history = started(effect).then(held())
    assert next_step(history.state, history.now + 2 * TERM) == Suspend("hold")
    history = history.then(resumed())
    assert next_step(history.state, history.now + 2 * TERM) == RecoverCall(C1)


@pytest.mark.parametrize("effect", ["read", "idempotent", "once"])
def test_a_stopped_run_waits_for_what_somebody_may_still_be_running(effect: Effect) -> None:
    history = started(effect)
    deadline = history.now + TERM
    state = history.then(stop_wanted()).state
    assert next_step(state, deadline, {C1}) == AwaitCalls()
    assert next_step(state, deadline - SECOND) == Suspend("retry", until=deadline)
    # Only what may not run again can be looked up; anything else would begin anew.
    assert next_step(state, deadline) == (RecoverCall(C1) if effect == "once" else Cancel())


def test_a_stopped_run_ends_once_what_became_of_its_calls_was_looked_up() -> None:
    history = started("once").then(stop_wanted()).then(left_unknown(1))
    assert next_step(history.state, history.now) == Cancel()


def test_a_stopped_run_waits_for_the_last_of_several() -> None:
    history = begun().then(replied(1, 2)).then(judged(1), judged(2))
    history = history.then(call_started(1, LATER), call_started(2, LATER + SECOND))
    state = history.then(stop_wanted()).state
    assert next_step(state, LATER) == Suspend("retry", until=LATER + SECOND + TERM)
    assert next_step(state, LATER + TERM) == Suspend("retry", until=LATER + SECOND + TERM)
    assert next_step(state, LATER + SECOND + TERM) == Cancel()


def test_an_effect_that_nobody_was_asked_about_before_the_stop_is_asked_after_the_end() -> None:
    history = started("once").then(left_unknown(1)).then(stop_wanted())
    assert next_step(history.state, history.now) == Cancel()
    history = history.then(RunCancelled())
    assert next_step(history.state, history.now) == RequestReview(C1)
    history = history.then(asked(1, approval=2, kind="review"))
    assert next_step(history.state, history.now) == Done()


def test_what_failed_while_it_was_to_be_stopped_is_taken_on_without_the_stop() -> None:
    history = started().then(stop_wanted()).then(RunFailed(error="given up")).then(reopened())
    assert next_step(history.state, history.now + TERM) == RecoverCall(C1)


def test_a_model_that_could_not_be_asked_is_asked_no_more_of_a_stopped_run() -> None:
    history = begun().then(ModelFailed(error="busy", retry_at=LATER)).then(stop_wanted())
    assert next_step(history.state, history.now) == Cancel()


def asked_once_more() -> History:
    """Its answer was lost, and today's policy wants people to be asked before it is begun once more."""
    history = started("idempotent")
    history = history.then(judged(1, "ask", again_because="the policy now asks"), after=TERM)
    return history.then(asked(1))


@pytest.mark.parametrize(
    ("history", "expected"),
    [
        (begun(), False),
        (waiting(), False),
        (started("read"), True),
        (started("once"), True),
        (started("idempotent"), True),
        (started("once").then(left_unknown(1)), True),
        (in_review(), False),
        (in_review().then(settled(2, "not_happened")), False),
        (started("once").then(looked_up(1)), False),
        (asked_once_more(), True),
        (asked_once_more().then(approved(1)), True),
        (asked_once_more().then(denied(1)), False),
        (started().then(returned(1)), False),
    ],
)
def test_what_has_begun_is_whatever_may_have_happened(history: History, expected: bool) -> None:
    assert has_begun(history.state) == expected


def test_a_model_that_fails_for_good_is_asked_once_more_with_what_it_has_not_heard() -> None:
    history = begun().then(said("one thing")).then(ModelFailed(error="no such model"))
    # It may have come while the request was on its way.
    assert next_step(history.state, history.now) == AskModel()
    history = history.then(ModelFailed(error="no such model"))
    assert next_step(history.state, history.now) == Fail("no such model")
    history = history.then(said("another"))
    assert next_step(history.state, history.now) == AskModel()
    history = history.then(ModelFailed(error="no such model")).then(ModelFailed(error="again"))
    assert next_step(history.state, history.now) == Fail("again")
