"""What the model is told of what people said and did not say, word by word."""

from __future__ import annotations

from agent.rules.events import CallRefused
from agent.rules.ids import CallId, RunId
from agent.rules.interventions import HistoryTaken, TakenCall, TakenTurn
from agent.rules.state import EARLY
from agent.rules.transcript import AssistantMessage, Told, ToolMessage, UserMessage, transcript
from tests.agent.rules.happenings import expired, said
from tests.agent.rules.histories import (
    REFUND,
    asked,
    begun,
    call_started,
    guided,
    judged,
    proposed_call,
    questioned,
    replied,
    returned,
    started,
    waiting,
)

PROMPT = UserMessage("refund ORD-3300 180")


def test_what_is_said_before_the_model_answers_follows_the_prompt() -> None:
    history = begun().then(said("and ORD-1"))
    assert transcript(history.state) == (PROMPT, UserMessage("and ORD-1"))
    history = history.then(replied(text="Done.", asked_at=2))
    assert transcript(history.state) == (
        PROMPT,
        UserMessage("and ORD-1"),
        AssistantMessage("Done."),
    )


def test_what_is_said_while_the_model_thinks_follows_its_answer() -> None:
    history = begun().then(said("and ORD-1")).then(replied(text="Done.", asked_at=1))
    assert transcript(history.state) == (
        PROMPT,
        AssistantMessage("Done."),
        UserMessage("and ORD-1"),
    )


def test_what_is_said_while_calls_are_open_follows_their_results() -> None:
    history = started().then(said("hurry"))
    assert [type(message) for message in transcript(history.state)] == [
        UserMessage,
        AssistantMessage,
        UserMessage,
    ]
    history = history.then(returned(1))
    assert [type(message) for message in transcript(history.state)[1:]] == [
        AssistantMessage,
        ToolMessage,
        UserMessage,
    ]
    told = Told().up_to(history.state)
    assert (told.settled, told.replies, len(told.messages)) == (3, 1, 4)
    history = history.then(replied(text="Done.", asked_at=history.length))
    assert told.up_to(history.state).messages == transcript(history.state)
    assert transcript(history.state)[3:] == (UserMessage("hurry"), AssistantMessage("Done."))


def test_what_was_said_before_a_decision_is_told_behind_it_and_marked() -> None:
    """A model takes what it reads last for what is wanted last."""
    history = waiting().then(said("use only 99")).then(guided(1, "use only 60"), said("hurry"))
    early, late = UserMessage(f"{EARLY} use only 99"), UserMessage("hurry")
    assert transcript(history.state)[-2:] == (early, late)
    history = history.then(replied(text="Done.", asked_at=history.length))
    assert transcript(history.state)[-3:] == (early, late, AssistantMessage("Done."))


def test_what_is_said_between_two_empty_replies_is_told_once() -> None:
    history = begun().then(replied(), said("well?")).then(replied(asked_at=3))
    assert transcript(history.state) == (PROMPT, UserMessage("well?"))


def result(history_with_result: ToolMessage | object) -> ToolMessage:
    assert isinstance(history_with_result, ToolMessage)
    return history_with_result


def test_that_nobody_decided_is_not_told_as_a_no() -> None:
    state = waiting().then(expired(1, "deny")).state
    told = result(transcript(state)[-1])
    assert told.output == (
        "Nobody decided in time: nobody said yes, and nobody said no."
        " It was not executed and will not be."
    )
    assert not told.is_error


def test_that_nobody_answered_is_no_answer() -> None:
    state = questioned().then(expired(1, "deny")).state
    assert result(transcript(state)[-1]).output == "Nobody answered in time, which is no answer."


def test_what_was_dropped_for_a_message_was_not_done() -> None:
    dropped = CallRefused(call_id=CallId("call_1"), code="newer_message", message="It came late.")
    state = begun().then(replied(1)).then(said("stop")).then(dropped).state
    told = transcript(state)
    assert result(told[2]).output == "Not executed and not queued. It came late."
    assert result(told[2]).is_error
    assert told[3] == UserMessage("stop")


def test_a_history_that_was_taken_over_is_told_in_the_words_it_was_told_in() -> None:
    done = TakenCall(
        proposed=proposed_call(7), effect="read", attempts=1, outcome="error", output=1, told="No."
    )
    turns = (TakenTurn(said=("first",), text="I look.", calls=(done,)),)
    history = begun().then(HistoryTaken(of_run=RunId("run_0"), up_to=9, turns=turns))
    history = history.then(said("and now?"))
    assert transcript(history.state) == (
        PROMPT,
        UserMessage("first"),
        AssistantMessage("I look.", (proposed_call(7),)),
        ToolMessage("model-7", "process_refund", "No.", is_error=True),
        UserMessage("and now?"),
    )


def test_what_was_begun_before_nobody_decided_may_have_happened() -> None:
    history = begun().then(replied(1)).then(judged(1)).then(call_started(1, begun().now))
    history = history.then(judged(1, "ask", args=REFUND, again_because="the policy now asks"))
    state = history.then(asked(1)).then(expired(1, "deny")).state
    assert "It was started before and its answer was lost" in result(transcript(state)[-1]).output
