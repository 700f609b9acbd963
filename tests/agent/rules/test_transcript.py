"""What the model is told, word by word."""

from __future__ import annotations

import pytest
from pydantic import JsonValue

from agent.rules.events import CallRefused
from agent.rules.ids import CallId
from agent.rules.transcript import AssistantMessage, ToolMessage, UserMessage, transcript
from tests.agent.rules.histories import (
    REFUND,
    SECOND,
    History,
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
    replied,
    returned,
    settled,
    started,
    steered,
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
    assert transcript(history.state)[-1] == ToolMessage(
        "model-1", "process_refund", words, is_error=is_error
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
