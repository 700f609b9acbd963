"""What the model is told, word by word."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import JsonValue

from agent.rules.events import ApprovalDecided, CallRefused
from agent.rules.ids import CallId, Principal
from agent.rules.transcript import AssistantMessage, Told, ToolMessage, UserMessage, transcript
from tests.agent.rules.deciding import A1
from tests.agent.rules.histories import (
    FRANK,
    REFUND,
    SECOND,
    TWO_OF_FINANCE,
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
    proposed_call,
    questioned,
    replied,
    returned,
    settled,
    started,
    steered,
    voted,
    waiting,
)

SMALLER: dict[str, JsonValue] = {**REFUND, "amount": 90}
CHANGED = 'A person changed the arguments; it was executed with {"order":"ORD-3300","amount":90}.\n'


def steered_and_started() -> History:
    history = waiting().then(steered(1, SMALLER), judged(1, effect="once", args=SMALLER))
    return history.then(call_started(1, history.now + SECOND))


def steered_and_in_review() -> History:
    history = steered_and_started().then(left_unknown(1))
    return history.then(asked(1, approval=2, kind="review", supersedes=1))


def approval_by_code(**fields: Any) -> ApprovalDecided:
    return ApprovalDecided(approval_id=A1, by=CODE, authority="code", **fields)


CODE = Principal("code:small_ones")
REFUSED = CallRefused(call_id=CallId("call_1"), code="policy", message="The policy says no.")


@pytest.mark.parametrize(
    ("history", "words", "is_error"),
    [
        (started().then(returned(1, "done")), "done", False),
        (started().then(returned(1, {"id": "ré", "n": 1})), '{"id":"ré","n":1}', False),
        (started().then(returned(1, None)), "null", False),
        (started().then(returned(1, "card expired", is_error=True)), "card expired", True),
        (
            begun().then(replied(1)).then(REFUSED),
            "Not executed and not queued. The policy says no.",
            True,
        ),
        (
            waiting().then(denied(1, "too much")),
            "Denied by a person. It was not executed and will not be. Reason: too much",
            False,
        ),
        (
            waiting().then(denied(1)),
            "Denied by a person. It was not executed and will not be. No reason was given.",
            False,
        ),
        (
            waiting().then(guided(1, "ask the customer first")),
            "It was not executed. A person wants it done otherwise: ask the customer first",
            False,
        ),
        (questioned().then(answered(1, "staging")), "A person answered: staging", False),
        (
            waiting(TWO_OF_FINANCE).then(voted(1)).then(denied(1, "too much", FRANK)),
            "Denied by a person. It was not executed and will not be. Reason: too much",
            False,
        ),
        # The agent's own decider is nobody's word but its own.
        (
            waiting().then(approval_by_code(action="deny", reason="above the limit")),
            "Denied by the agent's own decider. It was not executed and will not be."
            " Reason: above the limit",
            False,
        ),
        (
            waiting().then(approval_by_code(action="steer", guidance="split it")),
            "It was not executed. The agent's own decider wants it done otherwise: split it",
            False,
        ),
        (
            in_review().then(settled(2, "happened")),
            "It happened: a person confirmed it. Its own answer is not known.",
            False,
        ),
        (
            in_review().then(settled(2, "give_up")),
            "Nobody could tell whether it happened. Do not repeat it.",
            False,
        ),
        # A model that is not told would believe in its own arguments.
        (steered_and_started().then(returned(1, "done")), f"{CHANGED}done", False),
        (
            steered_and_started().then(returned(1, "card expired", is_error=True)),
            f"{CHANGED}card expired",
            True,
        ),
        (
            steered_and_in_review().then(settled(2, "happened")),
            f"{CHANGED}It happened: a person confirmed it. Its own answer is not known.",
            False,
        ),
        (
            steered_and_in_review().then(settled(2, "give_up")),
            CHANGED.replace("executed", "tried")
            + "Nobody could tell whether it happened. Do not repeat it.",
            False,
        ),
        (
            steered_and_started().then(REFUSED),
            "Not executed and not queued. The policy says no.",
            True,
        ),
    ],
)
def test_how_a_call_ended_is_told_in_these_words(
    history: History, words: str, is_error: bool
) -> None:
    (call,) = history.state.calls.values()
    assert transcript(history.state)[-1] == ToolMessage(
        "model-1", call.tool, words, is_error=is_error
    )


def test_the_model_sees_its_own_arguments_and_then_what_was_changed() -> None:
    messages = transcript(steered_and_started().then(returned(1, "done")).state)
    assert messages == (
        UserMessage("refund ORD-3300 180"),
        AssistantMessage("", (proposed_call(1),)),
        ToolMessage("model-1", "process_refund", f"{CHANGED}done"),
    )


def test_results_follow_their_reply_in_the_order_of_its_calls() -> None:
    history = begun().then(replied(1, 2, text="Both.")).then(judged(1, "ask"), judged(2))
    history = history.then(asked(1)).then(call_started(2, history.now)).then(returned(2, "second"))
    history = (
        history.then(approved(1)).then(call_started(1, history.now)).then(returned(1, "first"))
    )
    history = history.then(replied(text="Done."))
    texts = [
        getattr(m, "output", None) or getattr(m, "text", None) for m in transcript(history.state)
    ]
    assert texts == ["refund ORD-3300 180", "Both.", "first", "second", "Done."]


def test_an_empty_reply_leaves_no_message() -> None:
    history = begun().then(replied()).then(replied(text=" \n")).then(replied(text="Hello."))
    assert transcript(history.state)[1:] == (AssistantMessage("Hello."),)


def test_a_run_that_has_just_begun_is_its_prompt() -> None:
    assert transcript(begun("hello").state) == (UserMessage("hello"),)


def test_what_was_steered_away_by_code_is_told_as_such() -> None:
    steer = approval_by_code(action="steer", args=SMALLER)
    history = waiting().then(steer, judged(1, effect="once", args=SMALLER))
    history = history.then(call_started(1, history.now + SECOND)).then(returned(1, "done"))
    told = transcript(history.state)[-1]
    assert isinstance(told, ToolMessage)
    assert told.output.startswith("The agent's own decider changed the arguments; it was executed")


# Denied again


def denied_twice(second: JsonValue = 180) -> History:
    """And asked about $180 first, about ``second`` then."""
    args: dict[str, JsonValue] = {**REFUND, "amount": second}
    history = waiting().then(denied(1, "no")).then(replied(proposed_call(2, args=args)))
    history = history.then(judged(2, "ask", args=args)).then(asked(2, args=args))
    return history.then(denied(2, "no"))


def results(history: History) -> list[str]:
    return [m.output for m in transcript(history.state) if isinstance(m, ToolMessage)]


def test_the_second_denial_of_the_same_says_that_nobody_will_be_asked_again() -> None:
    first, second = results(denied_twice())
    assert first == "Denied by a person. It was not executed and will not be. Reason: no"
    assert second == (
        "Denied by a person. It was not executed and will not be."
        " Nobody will be asked about exactly this again. Reason: no"
    )


def test_what_the_model_was_told_of_the_first_denial_stays_as_it_was() -> None:
    before = results(waiting().then(denied(1, "no")))
    assert results(denied_twice())[:1] == before


def test_denials_of_two_different_calls_leave_both_askable() -> None:
    assert not any("again" in told for told in results(denied_twice(181)))


def test_of_two_identical_calls_in_one_reply_the_one_that_was_denied_last_is_the_last() -> None:
    history = begun().then(replied(1, 2)).then(judged(1, "ask"), judged(2, "ask"))
    history = history.then(asked(1), asked(2)).then(denied(2)).then(denied(1))
    first, second = results(history)
    assert "again" in first
    assert "again" not in second


# Told on


def test_telling_on_keeps_what_was_told_and_adds_what_is_new() -> None:
    history = started().then(returned(1, "first"))
    told = Told().up_to(history.state)
    assert (told.replies, told.settled) == (1, 3)
    history = history.then(replied(2)).then(judged(2))
    history = history.then(call_started(2, history.now)).then(returned(2, "second"))
    later = told.up_to(history.state)
    assert later.messages == transcript(history.state)
    assert all(kept is old for kept, old in zip(later.messages, told.messages, strict=False))


def test_a_reply_whose_calls_have_not_all_ended_is_told_anew() -> None:
    history = begun().then(replied(1, 2)).then(judged(1), judged(2))
    history = history.then(call_started(1, history.now), call_started(2, history.now))
    told = Told().up_to(history.then(returned(2, "second")).state)
    assert (told.replies, told.settled) == (0, 0)
    history = history.then(returned(2, "second")).then(returned(1, "first"))
    later = told.up_to(history.state)
    assert later.messages == transcript(history.state)
    assert (later.replies, later.settled) == (1, 4)


def test_what_was_told_costs_nothing_to_tell_again() -> None:
    """Whatever is settled is copied, not made: a message that was put there by hand stays."""
    history = started().then(returned(1, "first"))
    marked = Told((UserMessage("marked"),) * 3, replies=1, settled=3)
    assert marked.up_to(history.state).messages == marked.messages


def test_a_second_answer_changes_nothing_that_was_told() -> None:
    history = started().then(returned(1, "first"))
    assert transcript(history.then(returned(1, "second")).state) == transcript(history.state)
