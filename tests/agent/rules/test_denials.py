"""How often exactly this call was denied in a run."""

from __future__ import annotations

from agent.rules.consent import denials_of
from agent.rules.events import CallRefused
from agent.rules.ids import CallId
from tests.agent.rules.histories import (
    REFUND,
    History,
    asked,
    begun,
    denied,
    judged,
    proposed_call,
    replied,
    steered,
    waiting,
)


def twice_denied() -> History:
    history = waiting().then(denied(1)).then(replied(2)).then(judged(2, "ask"))
    return history.then(asked(2)).then(denied(2, "I said no"))


def test_denials_of_exactly_this_call_are_counted() -> None:
    assert denials_of(waiting().state, "process_refund", REFUND) == 0
    assert denials_of(waiting().then(denied(1)).state, "process_refund", REFUND) == 1
    assert denials_of(twice_denied().state, "process_refund", REFUND) == 2
    assert denials_of(twice_denied().state, "process_refund", {**REFUND, "amount": 180.0}) == 2


def test_denials_of_another_call_are_not() -> None:
    state = twice_denied().state
    assert denials_of(state, "send_voucher", REFUND) == 0
    assert denials_of(state, "process_refund", {**REFUND, "amount": 181}) == 0
    assert denials_of(state, "process_refund", {}) == 0


def test_true_is_not_one() -> None:
    history = begun().then(replied(1)).then(judged(1, "ask", args={"n": 1}))
    state = history.then(asked(1, args={"n": 1})).then(denied(1)).state
    assert denials_of(state, "process_refund", {"n": 1}) == 1
    assert denials_of(state, "process_refund", {"n": True}) == 0


def test_what_counts_is_what_was_denied_not_what_was_proposed() -> None:
    """Steered to less, and that was denied: of the first nobody said no."""
    less = {**REFUND, "amount": 150}
    history = waiting().then(steered(1, less), judged(1, "ask", args=less))
    state = history.then(asked(1, approval=2, args=less)).then(denied(2)).state
    assert denials_of(state, "process_refund", less) == 1
    assert denials_of(state, "process_refund", REFUND) == 0


def test_denials_can_be_counted_up_to_a_time() -> None:
    history = twice_denied()
    first = history.state.calls[CallId("call_1")].ended_at
    assert denials_of(history.state, "process_refund", REFUND, until=first) == 1
    assert denials_of(history.state, "process_refund", REFUND, until=history.now) == 2


def test_what_nobody_was_asked_about_is_no_denial() -> None:
    refused = CallRefused(call_id=CallId("call_1"), code="policy", message="no")
    state = begun().then(replied(proposed_call(1))).then(refused).state
    assert denials_of(state, "process_refund", REFUND) == 0
