"""What comes next, as tables: for each prefix of a history the step that is to follow."""

from __future__ import annotations

from datetime import timedelta

import pytest

from agent.rules.events import CallRefused, ModelFailed, RunFailed, RunFinished
from agent.rules.ids import CallId
from agent.rules.parts import Effect
from agent.rules.steps import (
    PARALLEL_LIMIT,
    AskModel,
    AwaitCalls,
    Done,
    Fail,
    Finish,
    JudgeCalls,
    RecoverCall,
    RequestApprovals,
    RequestReview,
    StartCalls,
    Step,
    Suspend,
    next_step,
)
from tests.agent.rules.histories import (
    BEGAN,
    FRANK,
    REFUND,
    SECOND,
    TERM,
    TWO_OF_FINANCE,
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
    replied,
    returned,
    settled,
    started,
    steered,
    voted,
)
from tests.agent.rules.stepping import Row, follow

C1, C2, C3 = CallId("call_1"), CallId("call_2"), CallId("call_3")
SMALLER = {**REFUND, "amount": 90}
LESS = {**REFUND, "amount": 150}
#: When the first attempt of a call is recovered, whenever it was started.
LATER = BEGAN + timedelta(hours=1)

TABLES: dict[str, list[Row]] = {
    "approved": [
        (replied(1), JudgeCalls((C1,))),
        (judged(1, "ask"), RequestApprovals((C1,))),
        (asked(1), Suspend("approvals")),
        (approved(1), StartCalls((C1,))),
        (call_started(1, LATER), Suspend("retry", until=LATER + TERM)),
        (returned(1), AskModel()),
        (replied(text=" Refunded. "), Finish("Refunded.")),
        (RunFinished(answer="Refunded."), Done()),
    ],
    "allowed without asking": [
        (replied(1), JudgeCalls((C1,))),
        (judged(1), StartCalls((C1,))),
        (call_started(1, LATER), Suspend("retry", until=LATER + TERM)),
        (returned(1, is_error=True), AskModel()),
    ],
    "denied": [
        (replied(1), JudgeCalls((C1,))),
        (judged(1, "ask"), RequestApprovals((C1,))),
        (asked(1), Suspend("approvals")),
        (denied(1, "too much"), AskModel()),
        (replied(text="It was denied."), Finish("It was denied.")),
    ],
    "steered to what is allowed": [
        (replied(1), JudgeCalls((C1,))),
        (judged(1, "ask"), RequestApprovals((C1,))),
        (asked(1), Suspend("approvals")),
        (steered(1, SMALLER), StartCalls((C1,))),
        (judged(1, args=SMALLER), StartCalls((C1,))),
        (call_started(1, LATER), Suspend("retry", until=LATER + TERM)),
        (returned(1), AskModel()),
    ],
    "steered to what others must be asked": [
        (replied(1), JudgeCalls((C1,))),
        (judged(1, "ask"), RequestApprovals((C1,))),
        (asked(1), Suspend("approvals")),
        (steered(1, LESS), StartCalls((C1,))),
        (judged(1, "ask", args=LESS), RequestApprovals((C1,))),
        (asked(1, approval=2, args=LESS, supersedes=1), Suspend("approvals")),
        (approved(2), StartCalls((C1,))),
    ],
    "guided": [
        (replied(1), JudgeCalls((C1,))),
        (judged(1, "ask"), RequestApprovals((C1,))),
        (asked(1), Suspend("approvals")),
        (guided(1, "ask the customer first"), AskModel()),
    ],
    "asked again at its start": [
        (replied(1), JudgeCalls((C1,))),
        (judged(1, "ask"), RequestApprovals((C1,))),
        (asked(1), Suspend("approvals")),
        (approved(1), StartCalls((C1,))),
        (judged(1, "ask"), RequestApprovals((C1,))),
        (asked(1, approval=2, supersedes=1), Suspend("approvals")),
        (denied(2), AskModel()),
    ],
    "two in parallel, one gated": [
        (replied(1, 2), JudgeCalls((C1, C2))),
        (judged(1, "ask"), JudgeCalls((C2,))),
        # What may run need not wait for a preview of what is asked.
        (judged(2), StartCalls((C2,))),
        (call_started(2, LATER), RequestApprovals((C1,))),
        (asked(1), Suspend("retry", until=LATER + TERM)),
        (approved(1), StartCalls((C1,))),
        (returned(2), StartCalls((C1,))),
        (call_started(1, LATER), Suspend("retry", until=LATER + TERM)),
        (returned(1), AskModel()),
    ],
    "three gated, decided one by one": [
        (replied(1, 2, 3), JudgeCalls((C1, C2, C3))),
        (judged(1, "ask"), JudgeCalls((C2, C3))),
        (judged(2, "ask"), JudgeCalls((C3,))),
        (judged(3, "ask"), RequestApprovals((C1, C2, C3))),
        (asked(1), RequestApprovals((C2, C3))),
        (asked(2), RequestApprovals((C3,))),
        (asked(3), Suspend("approvals")),
        (denied(2), Suspend("approvals")),
        (guided(1, "not this one"), Suspend("approvals")),
        (approved(3), StartCalls((C3,))),
        (call_started(3, LATER), Suspend("retry", until=LATER + TERM)),
        (returned(3), AskModel()),
    ],
    "two have to say yes": [
        (replied(1), JudgeCalls((C1,))),
        (judged(1, "ask", approvers=TWO_OF_FINANCE), RequestApprovals((C1,))),
        (asked(1, approvers=TWO_OF_FINANCE), Suspend("approvals")),
        (voted(1), Suspend("approvals")),
        (approved(1, FRANK), StartCalls((C1,))),
    ],
    "a question and its answer": [
        (replied(1), JudgeCalls((C1,))),
        (judged(1, "ask", is_question=True), RequestApprovals((C1,))),
        (asked(1, kind="question"), Suspend("approvals")),
        (answered(1, "staging"), AskModel()),
    ],
    "refused": [
        (replied(1, 2), JudgeCalls((C1, C2))),
        (CallRefused(call_id=C1, code="malformed", message="not JSON"), JudgeCalls((C2,))),
        (CallRefused(call_id=C2, code="policy", message="not allowed"), AskModel()),
    ],
    "refused at its start": [
        (replied(1), JudgeCalls((C1,))),
        (judged(1), StartCalls((C1,))),
        (CallRefused(call_id=C1, code="policy", message="not any more"), AskModel()),
    ],
    "text and calls in one reply": [
        (replied(1, text="I look it up."), JudgeCalls((C1,))),
        (judged(1), StartCalls((C1,))),
    ],
    "a model that fails for good": [
        (ModelFailed(error="no such model"), Fail("no such model")),
        (RunFailed(error="no such model"), Done()),
    ],
    "a model that gives nothing": [
        (replied(), AskModel()),
        (replied(text=" \n "), AskModel()),
        (replied(), Fail("The model gave 3 empty answers in a row.")),
    ],
    "a model that gives nothing, and then something": [
        (replied(), AskModel()),
        (replied(), AskModel()),
        (replied(1), JudgeCalls((C1,))),
        (CallRefused(call_id=C1, code="malformed", message="not JSON"), AskModel()),
        (replied(), AskModel()),
        (replied(text="Here."), Finish("Here.")),
    ],
}


@pytest.mark.parametrize("rows", TABLES.values(), ids=TABLES.keys())
def test_every_prefix_has_its_step(rows: list[Row]) -> None:
    follow(rows)


def test_a_failed_model_is_asked_again_at_its_time_and_not_before() -> None:
    retry_at = BEGAN + timedelta(seconds=30)
    state = begun().then(ModelFailed(error="busy", retry_at=retry_at)).state
    assert next_step(state, retry_at - SECOND) == Suspend("retry", until=retry_at)
    assert next_step(state, retry_at) == AskModel()


def test_an_answer_makes_earlier_failures_forgotten() -> None:
    history = begun().then(ModelFailed(error="busy", retry_at=BEGAN)).then(replied(text="Hello."))
    assert history.state.model_failures == 0
    assert next_step(history.state, history.now) == Finish("Hello.")


@pytest.mark.parametrize(
    ("effect", "before"),
    [
        ("read", RecoverCall(C1)),
        ("idempotent", Suspend("retry", until=started().now + TERM)),
        ("once", Suspend("retry", until=started().now + TERM)),
    ],
)
def test_a_call_that_nobody_runs_is_recovered_once_nobody_can_be_running_it(
    effect: Effect, before: Step
) -> None:
    history = started(effect)
    deadline = history.now + TERM
    assert next_step(history.state, deadline - SECOND) == before
    assert next_step(history.state, deadline) == RecoverCall(C1)


@pytest.mark.parametrize("effect", ["read", "idempotent", "once"])
def test_a_call_in_flight_is_waited_for_even_beyond_its_deadline(effect: Effect) -> None:
    history = started(effect)
    for now in (history.now, history.now + TERM, history.now + 2 * TERM):
        assert next_step(history.state, now, {C1}) == AwaitCalls()


def test_a_gated_sibling_starts_while_the_other_is_in_flight() -> None:
    history = begun().then(replied(1, 2)).then(judged(1, "ask"), judged(2)).then(asked(1))
    history = history.then(call_started(2, history.now))
    assert next_step(history.state, history.now, {C2}) == AwaitCalls()
    history = history.then(approved(1))
    assert next_step(history.state, history.now, {C2}) == StartCalls((C1,))


def test_waiting_for_a_call_in_flight_ends_when_another_can_be_recovered() -> None:
    history = begun().then(replied(1, 2)).then(judged(1), judged(2))
    history = history.then(call_started(1, LATER), call_started(2, LATER + SECOND))
    assert next_step(history.state, LATER, {C2}) == AwaitCalls(until=LATER + TERM)
    assert next_step(history.state, LATER + TERM, {C2}) == RecoverCall(C1)


def test_the_model_is_not_asked_while_anything_is_in_flight() -> None:
    history = started().then(returned(1))
    assert next_step(history.state, history.now, {C1}) == AwaitCalls()


def test_an_unknown_effect_is_asked_of_people_once() -> None:
    history = started("once").then(left_unknown(1))
    assert next_step(history.state, history.now) == RequestReview(C1)
    history = history.then(asked(1, approval=2, kind="review"))
    assert next_step(history.state, history.now) == Suspend("approvals")


def test_a_settled_effect_that_happened_is_the_models_turn() -> None:
    history = in_review().then(settled(2, "happened"))
    assert next_step(history.state, history.now) == AskModel()


def test_a_settled_effect_that_was_given_up_is_the_models_turn() -> None:
    history = in_review().then(settled(2, "give_up"))
    assert next_step(history.state, history.now) == AskModel()


def test_a_settled_effect_that_did_not_happen_is_started_again() -> None:
    history = in_review().then(settled(2, "not_happened"))
    assert next_step(history.state, history.now) == StartCalls((C1,))


def test_a_check_looks_the_effect_up_at_once_and_may_end_in_a_new_review() -> None:
    history = in_review().then(settled(2, "check"))
    assert next_step(history.state, history.now) == RecoverCall(C1)
    history = history.then(left_unknown(1))
    assert next_step(history.state, history.now) == RequestReview(C1)
    history = history.then(asked(1, approval=3, kind="review", supersedes=2))
    assert next_step(history.state, history.now) == Suspend("approvals")


def test_an_effect_that_did_not_happen_may_be_started_again() -> None:
    history = started("once").then(looked_up(1))
    assert next_step(history.state, history.now) == StartCalls((C1,))


def test_as_many_calls_are_carried_out_at_once_as_the_limit_says() -> None:
    numbers = range(1, PARALLEL_LIMIT + 2)
    history = begun().then(replied(*numbers)).then(*(judged(n) for n in numbers))
    ids = tuple(CallId(f"call_{n}") for n in numbers)
    assert next_step(history.state, history.now) == StartCalls(ids[:PARALLEL_LIMIT])
    history = history.then(*(call_started(n, LATER) for n in numbers[: PARALLEL_LIMIT - 1]))
    running = set(ids[: PARALLEL_LIMIT - 1])
    assert next_step(history.state, history.now, running) == StartCalls((ids[PARALLEL_LIMIT - 1],))
    history = history.then(call_started(PARALLEL_LIMIT, LATER))
    running.add(ids[PARALLEL_LIMIT - 1])
    assert next_step(history.state, history.now, running) == AwaitCalls()


def test_a_model_that_fails_without_a_word_fails_the_run_with_one() -> None:
    history = begun().then(ModelFailed(error=""))
    assert next_step(history.state, history.now) == Fail("The model could not be asked.")
