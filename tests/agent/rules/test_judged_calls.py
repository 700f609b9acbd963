"""The calls of a run as they were judged, out of its journal."""

from __future__ import annotations

from agent.rules.events import CallRefused
from agent.rules.judged_calls import judged_calls
from tests.agent.rules.histories import (
    REFUND,
    History,
    approved,
    asked,
    begun,
    judged,
    replied,
    steered,
    verdict,
)


def calls(history: History) -> list[tuple[str, str, object]]:
    found = judged_calls(history.recorded)
    return [(one.call_id, one.by_the_rules, one.args["amount"]) for one in found]


def test_a_call_that_was_judged_is_there_with_its_arguments_and_the_run_as_it_was() -> None:
    history = begun().then(replied(1, 2)).then(judged(1, "ask"), judged(2, "ask"))
    assert calls(history) == [("call_1", "ask", 180), ("call_2", "ask", 180)]
    (first, second) = judged_calls(history.recorded)
    assert (first.tool, first.at) == ("process_refund", history.now)
    assert (first.state.seq, second.state.seq) == (2, 3)


def test_one_that_was_changed_is_there_with_both_arguments_and_one_judged_again_once() -> None:
    history = begun().then(replied(1)).then(judged(1, "ask"), asked(1))
    history = history.then(steered(1, args={**REFUND, "amount": 90}))
    history = history.then(judged(1, args={**REFUND, "amount": 90}, action="allow"))
    assert calls(history) == [("call_1", "ask", 180), ("call_1", "allow", 90)]
    again = begun().then(replied(1)).then(judged(1, "ask"), asked(1)).then(approved(1))
    assert calls(again.then(judged(1, "ask"))) == [("call_1", "ask", 180)]


def test_what_a_grant_allowed_the_rules_had_asked_about() -> None:
    granted = judged(1).model_copy(
        update={"verdict": verdict("allow").model_copy(update={"grant": "grt_1"})}
    )
    assert calls(begun().then(replied(1)).then(granted)) == [("call_1", "ask", 180)]


def test_what_the_policy_refused_is_there_as_it_was_proposed_and_what_was_never_judged_is_not() -> (
    None
):
    refused = CallRefused(
        call_id=judged(1).call_id, code="policy", message="no", verdict=verdict("deny")
    )
    unknown = CallRefused(call_id=judged(2).call_id, code="unknown_tool", message="no")
    assert calls(begun().then(replied(1, 2)).then(refused, unknown)) == [("call_1", "deny", 180)]
