"""What somebody said while people were asked can be the guidance: told the model once, and as it reads then."""

from __future__ import annotations

import pytest

from agent.errors import InvalidArgs
from agent.rules.decisions import Steer
from agent.rules.events import Event
from agent.rules.interventions import MessageDeleted, MessageEdited, MessageReceived
from agent.rules.parts import GivenFile
from agent.rules.people import may_change, say
from agent.rules.state import AS_GUIDANCE, EARLY
from agent.rules.transcript import ToolMessage, UserMessage, transcript
from tests.agent.rules.deciding import decided, take
from tests.agent.rules.happenings import said
from tests.agent.rules.histories import ALICE, History, replied, waiting

REF = "slack:T0:C0:1.2"
OTHERWISE = Steer(guidance="only half", ref=REF)


def told_after(history: History, *events: Event) -> list[str]:
    """By the results of calls, and by people, behind the prompt."""
    messages = transcript(history.then(*events).state)[1:]
    return [
        one.output if isinstance(one, ToolMessage) else one.text
        for one in messages
        if isinstance(one, ToolMessage | UserMessage)
    ]


def test_the_model_is_told_it_once() -> None:
    history = waiting().then(said("only half", ref=REF))
    events = take(history, OTHERWISE)
    assert events == (decided(action="steer", guidance="only half", ref=REF),)
    (result,) = told_after(history, *events)
    assert result.endswith("A person wants it done otherwise: only half")


def test_it_is_told_once_also_when_the_model_has_replied() -> None:
    history = waiting().then(said("only half", ref=REF)).then(*take(waiting_for(), OTHERWISE))
    state = history.then(replied(2, asked_at=history.length, text="Half, then.")).state
    assert state.replies[-1].heard == ()


def waiting_for() -> History:
    return waiting().then(said("only half", ref=REF))


def test_what_else_was_said_is_told_to_have_been_said_before() -> None:
    history = waiting().then(said("only half", ref=REF)).then(said("and hurry", ref="other"))
    assert told_after(history, *take(history, OTHERWISE))[1:] == [f"{EARLY} and hurry"]


def test_what_came_with_it_is_not_lost() -> None:
    file = GivenFile(name="prices.txt", text="half: 90")
    message = MessageReceived(by=ALICE, text="only half", ref=REF, files=(file,))
    history = waiting().then(message)
    _, data, words = told_after(history, *take(history, OTHERWISE))
    assert "half: 90" in data
    assert words == AS_GUIDANCE


@pytest.mark.parametrize(
    "since",
    [
        (MessageEdited(ref=REF, text="only a third", by=ALICE),),
        (MessageDeleted(ref=REF, by=ALICE),),
    ],
)
def test_what_reads_otherwise_by_now_is_not_guidance(since: tuple[Event, ...]) -> None:
    with pytest.raises(InvalidArgs):
        take(waiting_for().then(*since), OTHERWISE)


def test_what_was_never_said_is_not_guidance() -> None:
    with pytest.raises(InvalidArgs):
        take(waiting(), OTHERWISE)


def test_it_is_used_as_it_was_edited() -> None:
    history = waiting_for().then(MessageEdited(ref=REF, text="only a third", by=ALICE))
    (event,) = take(history, Steer(guidance="only a third", ref=REF))
    assert event == decided(action="steer", guidance="only a third", ref=REF)


def test_used_it_can_not_be_changed_any_more() -> None:
    history = waiting_for().then(*take(waiting_for(), OTHERWISE))
    assert not may_change(history.state, ALICE, REF)


def test_delivered_again_it_is_known() -> None:
    state = waiting_for().then(*take(waiting_for(), OTHERWISE)).state
    assert say(state, ALICE, "only half", REF) == ()
