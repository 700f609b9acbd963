"""How a long conversation is shortened for a session's next run."""

from __future__ import annotations

import json

import pytest

from agent.rules.continuing import PART_LIMITS, SIZE_LIMIT, go_on_from
from agent.rules.events import RunFailed, RunFinished
from agent.rules.interventions import PastTurn, SessionContinued
from agent.rules.parts import ProposedCall
from tests.agent.rules.happenings import said
from tests.agent.rules.histories import (
    History,
    begun,
    call_started,
    denied,
    judged,
    proposed_call,
    replied,
    returned,
    waiting,
)

#: A part of it that is told whole, if there is room.
WHOLE = PART_LIMITS[0]
#: So many turns of that size fill all the room.
FITTING = SIZE_LIMIT // WHOLE


def past(history: History, unreadable: int = 0) -> SessionContinued:
    first, *_ = go_on_from(history.state, unreadable)
    assert isinstance(first, SessionContinued)
    return first


def calling(number: int, arguments: int) -> ProposedCall:
    """A call with arguments of exactly that length."""
    empty = len(json.dumps({"text": ""}))
    call = proposed_call(number)
    written = json.dumps({"text": "y" * (arguments - empty)}) if arguments > empty else "{}"
    return call.model_copy(update={"arguments": written})


def turn(history: History, number: int, place: str, size: int) -> History:
    """One more turn, with so much in one place of it."""
    if place == "said":
        history = history.then(said("x" * size))
    if place in ("said", "text"):
        text = "x" * size if place == "text" else ""
        return history.then(replied(text=text, asked_at=history.length))
    call = calling(number, size if place == "arguments" else 2)
    output = "x" * (size - 2) if place == "told" else ""
    history = history.then(replied(call, asked_at=history.length)).then(judged(number))
    return history.then(call_started(number, history.now)).then(returned(number, output))


def conversation(turns: int, place: str, size: int) -> History:
    history = begun()
    for number in range(1, turns + 1):
        history = turn(history, number, place, size)
    return history


def part(turn: PastTurn, place: str) -> str:
    calls = {call.proposed.arguments: call.told for call in turn.calls}
    texts = {"said": turn.said, "text": (turn.text,), "arguments": calls, "told": calls.values()}
    return max(texts[place], key=len)


PLACES = pytest.mark.parametrize("place", ["said", "text", "arguments", "told"])


@PLACES
def test_whatever_fills_a_turn_counts_and_what_just_fits_is_told_whole(place: str) -> None:
    told_of = past(conversation(FITTING + 5, place, WHOLE).then(RunFinished(answer="x")))
    assert (len(told_of.turns), told_of.left_out) == (FITTING, 5)
    assert not [one for one in told_of.turns if "shortened" in part(one, place)]


def test_how_a_run_ended_takes_room_too() -> None:
    told_of = past(conversation(FITTING + 5, "text", WHOLE).then(RunFailed(error="x")))
    *before, newest = told_of.turns
    assert newest == PastTurn(note="[This run failed before it had come to its end.]")
    whole = [one for one in before if one.text == "x" * WHOLE]
    assert len(whole) == FITTING - 1
    # Those before them are cut to what is left.
    assert len(before) > len(whole)


@pytest.mark.parametrize("place", ["said", "text", "told"])
def test_a_part_that_is_too_long_is_cut_to_its_limit_and_says_so(place: str) -> None:
    history = turn(turn(begun(), 1, "text", 1), 2, place, WHOLE + 3)
    size = WHOLE + 1 if place == "told" else WHOLE + 3
    newest = part(past(history.then(RunFinished(answer="x"))).turns[-1], place)
    mark = f" … (shortened: {size:,} characters in all)"
    assert newest == "x" * (WHOLE - len(mark)) + mark


def test_what_is_cut_of_arguments_stays_an_object_with_room_for_what_is_escaped() -> None:
    history = turn(begun(), 1, "arguments", WHOLE + 1).then(RunFinished(answer="x"))
    (call,) = past(history).turns[0].calls
    shortened = json.loads(call.proposed.arguments)
    assert list(shortened) == ["shortened"]
    assert len(shortened["shortened"]) == WHOLE // 2
    assert shortened["shortened"].endswith(" … (shortened: 4,001 characters in all)")


def test_who_denied_a_call_and_why_is_told_to_the_next_run() -> None:
    history = waiting().then(denied(1, "too much")).then(RunFailed(error="x"))
    (call,) = past(history).turns[0].calls
    assert call.told.startswith("Denied by ")
    assert call.told.endswith("Reason: too much")


def test_runs_that_could_not_be_read_are_counted_on() -> None:
    first = begun().then(RunFailed(error="x"))
    second = begun().then(*go_on_from(first.state, 2)).then(RunFailed(error="x"))
    assert past(second).unreadable == 2
    assert past(second, 1).unreadable == 3
