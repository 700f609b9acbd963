"""What a session's next run is told of the runs before it."""

from __future__ import annotations

import json

import pytest

from agent.rules.continuing import SIZE_LIMIT, TURNS_LIMIT, go_on_from
from agent.rules.events import ModelReplied, RunFailed, RunFinished
from agent.rules.forking import fork
from agent.rules.ids import BY_BUDGET, BY_SILENCE, CallId, OperationId, Principal, RunId
from agent.rules.interventions import MessageReceived, PastTurn, RunCancelled, SessionContinued
from agent.rules.parts import ProposedCall
from agent.rules.recorded import dump_event
from agent.rules.transcript import (
    AssistantMessage,
    Message,
    ToolMessage,
    UserMessage,
    of_this_run,
    transcript,
)
from tests.agent.engine.strict import check
from tests.agent.rules.happenings import said, stop_wanted
from tests.agent.rules.histories import (
    ALICE,
    BOB,
    RUN,
    History,
    begun,
    in_review,
    proposed_call,
    replied,
    returned,
    started,
    waiting,
)


def finished(history: History, answer: str = "done") -> History:
    asked_at = history.length
    history = history.then(replied(text=answer, asked_at=asked_at))
    return history.then(RunFinished(answer=answer))


def past(history: History) -> SessionContinued:
    first, *_ = go_on_from(history.state)
    assert isinstance(first, SessionContinued)
    return first


def handed_on(history: History) -> list[tuple[Principal, str, str | None]]:
    _, *rest = go_on_from(history.state)
    said = [one for one in rest if isinstance(one, MessageReceived)]
    assert len(said) == len(rest)
    return [(one.by, one.text, one.ref) for one in said]


def told(history: History) -> tuple[Message, ...]:
    """What the model of the next run is told."""
    messages = transcript(begun().then(*go_on_from(history.state)).state)
    check(messages)
    return messages


def words(message: Message) -> str:
    return message.output if isinstance(message, ToolMessage) else message.text


def test_what_was_said_and_done_before_stands_before_the_runs_own_words() -> None:
    history = finished(started().then(returned(1, "paid")), "It is paid.")
    asked, reply, result, answer, over, prompt = told(history)
    assert asked == UserMessage(history.state.prompt)
    assert reply == AssistantMessage("", (proposed_call(1),))
    assert result == ToolMessage(proposed_call(1).model_call_id, proposed_call(1).tool, "paid")
    assert answer == AssistantMessage("It is paid.")
    assert isinstance(over, UserMessage)
    assert over.is_note
    assert "What follows is new" in over.text
    assert prompt == UserMessage(begun().state.prompt)


def test_none_of_it_is_a_call_or_a_reply_of_the_run() -> None:
    history = finished(started().then(returned(1, "paid")))
    state = begun().then(*go_on_from(history.state)).state
    assert (state.replies, state.calls, state.model_calls) == ((), {}, 0)
    assert state.past is not None
    assert state.past.of_run == RUN


def test_of_the_conversation_what_is_of_the_run_can_be_told_apart() -> None:
    assert of_this_run(told(finished(begun()))) == (UserMessage(begun().state.prompt),)
    messages = transcript(begun().state)
    assert of_this_run(messages) == messages


def test_a_third_run_is_told_of_the_first_as_well() -> None:
    first = finished(begun(), "one")
    second = finished(begun().then(*go_on_from(first.state)), "two")
    answers = [one.text for one in told(second) if isinstance(one, AssistantMessage)]
    assert answers == ["one", "two"]


@pytest.mark.parametrize(
    ("history", "expected"),
    [
        (waiting(), "Not executed and not queued: the run ended first."),
        (in_review(), "before it was known whether this happened"),
        (started("idempotent"), "before it was known whether this happened"),
        (started("read"), "The run ended before this had answered"),
    ],
)
def test_of_a_call_that_never_ended_it_is_told_that_it_did_not(
    history: History, expected: str
) -> None:
    (result,) = [
        one for one in told(history.then(RunFailed(error="x"))) if isinstance(one, ToolMessage)
    ]
    assert result.is_error
    assert expected in result.output


@pytest.mark.parametrize(
    "end",
    [
        [RunFailed(error="x")],
        [stop_wanted(BY_SILENCE), RunCancelled()],
        [stop_wanted(BY_BUDGET), RunCancelled()],
    ],
)
def test_what_no_model_heard_is_said_to_the_next_run(end: list[RunFailed | RunCancelled]) -> None:
    history = begun().then(said("be kind", BOB, "ts-1")).then(*end)
    assert handed_on(history) == [(BOB, "be kind", "ts-1")]
    assert words(told(history)[-2]) == "be kind"
    assert len([one for one in told(history) if words(one) == "be kind"]) == 1


def test_what_people_stopped_a_run_over_is_told_but_not_wanted_any_more() -> None:
    history = begun().then(said("pay it all", BOB)).then(stop_wanted(BOB), RunCancelled())
    assert handed_on(history) == []
    prompt, unheard, note, *_ = told(history)
    assert (prompt, unheard) == (UserMessage(history.state.prompt), UserMessage("pay it all"))
    assert isinstance(note, UserMessage)
    assert note.is_note
    assert "was stopped" in note.text
    assert "had not been heard" in note.text


def test_what_came_after_runs_that_cant_be_read_is_not_handed_on_twice() -> None:
    history = begun().then(said("be kind")).then(RunFailed(error="x"))
    (event,) = go_on_from(history.state, 2)
    assert isinstance(event, SessionContinued)
    assert event.unreadable == 2
    notes = [words(one) for one in transcript(begun().then(event).state)]
    assert any("2 more runs" in note for note in notes)


def long(turns: int, text: str) -> History:
    history = begun()
    for number in range(turns):
        history = history.then(said(f"word {number}"))
        history = history.then(replied(text=text, asked_at=history.length))
    return history.then(RunFinished(answer="x"))


def test_only_the_newest_turns_are_told_and_that_there_were_older_ones() -> None:
    told_of = past(long(TURNS_LIMIT + 5, "yes"))
    assert told_of.turns[0].said == ("word 5",)
    assert (len(told_of.turns), told_of.left_out) == (TURNS_LIMIT, 5)
    first, *_ = told(long(TURNS_LIMIT + 5, "yes"))
    assert isinstance(first, UserMessage)
    assert first.is_note
    assert "5 turns before these are left out" in first.text


def test_what_was_left_out_before_is_counted_on() -> None:
    first = long(TURNS_LIMIT, "yes")
    second = finished(begun().then(*go_on_from(first.state)))
    third = finished(begun().then(*go_on_from(second.state)))
    assert (past(second).left_out, past(third).left_out) == (1, 2)


def test_it_is_of_a_bounded_size_however_much_was_said() -> None:
    sizes = [len(dump_event(past(long(n, "😀" * 40_000)))) for n in (30, 60)]
    assert sizes[0] == sizes[1] or max(sizes) < 2 * SIZE_LIMIT
    newest = past(long(30, "x" * 40_000)).turns[-1]
    assert "shortened: 40,000 characters in all" in newest.text


def calling(count: int, size: int) -> History:
    """A reply with so many calls, each with so much to say."""
    proposed = [
        ProposedCall(
            call_id=CallId(f"call_{n}"),
            operation_id=OperationId(f"op_{n}"),
            model_call_id="m",
            tool="send",
            arguments=json.dumps({"text": "y" * size}),
        )
        for n in range(count)
    ]
    return (
        begun()
        .then(ModelReplied(text="", asked_at=1, model="m", calls=tuple(proposed)))
        .then(RunFailed(error="x"))
    )


@pytest.mark.parametrize("count", [1, 30, 100])
def test_long_arguments_are_shortened_and_stay_json(count: int) -> None:
    (reply, *_) = past(calling(count, 50_000)).turns
    assert len(reply.calls) == count
    for call in reply.calls:
        assert "shortened" in json.loads(call.proposed.arguments)
    assert sum(len(call.proposed.arguments) for call in reply.calls) < SIZE_LIMIT


def test_a_turn_that_has_no_room_is_left_out_with_those_before_it() -> None:
    told_of = past(calling(3_000, 50_000))
    assert told_of.turns == (PastTurn(note=told_of.turns[0].note),)
    assert told_of.left_out == 1


def test_a_fork_takes_along_what_its_run_was_told_of_those_before_it() -> None:
    second = begun().then(*go_on_from(finished(begun(), "one").state))
    _, events = fork(second.recorded, second.length, ALICE, lambda prefix: f"{prefix}_new")
    assert transcript(begun().then(*events).state) == transcript(second.state)


def test_where_no_run_can_be_read_it_is_told_that_there_were_some() -> None:
    event = SessionContinued(of_run=RunId("run_0"), unreadable=1)
    note, over, prompt = transcript(begun().then(event).state)
    assert "can't be read" in words(note)
    assert "What follows is new" in words(over)
    assert prompt == UserMessage(begun().state.prompt)


def test_what_is_handed_on_stands_before_what_was_said_later() -> None:
    """Of two words that contradict each other the newer one is meant."""
    failed = RunFailed(error="x")
    first = begun().then(said("use ORD-5", BOB, "ts-1"), failed)
    second = begun("no, use ORD-6").then(*go_on_from(first.state))

    def order(history: History) -> list[str]:
        said_there = [words(one) for one in transcript(history.state)]
        return [one for one in said_there if one in {"use ORD-5", "no, use ORD-6", "now"}]

    answered = second.then(replied(text="Yes.", asked_at=second.length))
    for history in (second, answered):
        assert order(history) == ["use ORD-5", "no, use ORD-6"]
    for ended in (second.then(failed), answered.then(failed)):
        third = begun("now").then(*go_on_from(ended.state))
        assert order(third) == ["use ORD-5", "no, use ORD-6", "now"]
    _, taken = fork(answered.recorded, answered.length, BOB, lambda prefix: f"{prefix}_1")
    forked = begun("no, use ORD-6").then(*taken)
    assert order(forked) == ["use ORD-5", "no, use ORD-6"]
