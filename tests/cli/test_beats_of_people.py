"""What ``watch`` says of what people and time do to a run."""

from __future__ import annotations

import pytest

from agent.rules.events import RunFailed
from agent.rules.ids import CallId, OperationId, RunId
from agent.rules.interventions import (
    BudgetReached,
    HistoryTaken,
    MessageReceived,
    RunResumed,
    SessionContinued,
    TakenCall,
    TakenTurn,
)
from agent.rules.parts import ProposedCall
from bot.cli.beats import beat
from tests.agent.rules.happenings import deleted, edited
from tests.agent.rules.histories import ALICE, History, begun, waiting
from tests.bot.cards.waits import (
    asked_again,
    escalated,
    expired,
    held,
    patient,
    reminded,
    stopped,
    told,
    used_up,
)

HELD = "HELD by slack:T0PILOT:U0BOB"
EXPIRED = "nobody decided in time: apr_1; "
TAKEN = TakenCall(
    proposed=ProposedCall(
        call_id=CallId("call_9"),
        operation_id=OperationId("op_9"),
        model_call_id="m9",
        tool="check_order",
        arguments="{}",
    ),
    outcome="ok",
)


def said(history: History, back: int = 1) -> str | None:
    """Of the last event, or of one so far from the end."""
    until = history.first(history.length - back + 1)
    return beat(until.recorded[-1], until.state)


@pytest.mark.parametrize(
    ("history", "words"),
    [
        (told(begun(), "hurry up"), "message from slack:T0PILOT:U0ALICE: hurry up"),
        (
            begun(ref="1").then(edited("1", "go")),
            "message of slack:T0PILOT:U0ALICE edited: go",
        ),
        (begun(ref="1").then(deleted("1")), "message of slack:T0PILOT:U0ALICE deleted"),
        (held(waiting()), HELD),
        (held(waiting(), reason="lunch"), f"{HELD}: lunch"),
        (held(waiting()).then(RunResumed(by=ALICE)), "resumed by slack:T0PILOT:U0ALICE"),
        (stopped(waiting()), "stopped"),
        (
            stopped(told(waiting(), "hurry up")),
            "stopped; not heard: 1 of the messages (the next run of its session is told)",
        ),
        (
            told(begun(), "hurry up").then(RunFailed(error="no")),
            "run failed: no; not heard: 1 of the messages (the next run of its session is told)",
        ),
        (
            begun().then(SessionContinued(of_run=RunId("run_0"))),
            "goes on with the conversation of run_0",
        ),
        (held(waiting(), reason="x" * 400), f"{HELD}: {'x' * 298} …"),
        (reminded(patient()), "people are reminded of apr_1"),
        (escalated(patient()), "asked as well: S0LEGAL, U0ERIN may decide apr_1 too"),
        (expired(patient()), f"{EXPIRED}the run waits until it is asked again"),
        (expired(patient(), "deny"), f"{EXPIRED}the agent is told"),
        (expired(patient(), "stop"), f"{EXPIRED}the run is stopped"),
        (expired(patient(), "escalate"), f"{EXPIRED}others are asked"),
        (
            asked_again(expired(patient())),
            "to be asked again, says slack:T0PILOT:U0ALICE: apr_1",
        ),
        (
            used_up(),
            "PAUSED for budget (This run has used its budget: 40 of 40 model calls.), token apr_1",
        ),
        (
            begun().then(BudgetReached(budget="tokens", used="12", limit="10")),
            "budget used up: 12 of 10 tokens",
        ),
        (
            begun().then(
                HistoryTaken(of_run=RunId("run_0"), up_to=7, turns=(TakenTurn(calls=(TAKEN,)),))
            ),
            "goes on from run_0 at 7",
        ),
    ],
)
def test_each_event_has_its_words(history: History, words: str) -> None:
    assert said(history) == words


def test_who_stopped_it_and_why_comes_before_its_end() -> None:
    history = stopped(waiting(), reason="the wrong order")
    assert said(history, 2) == "to be stopped by slack:T0PILOT:U0BOB: the wrong order"


@pytest.mark.parametrize(
    "history",
    [
        begun(ref="1").then(edited("1", "x\nfinished: all\x1b[2J")),
        begun().then(MessageReceived(by=ALICE, text="x\nfinished: all\x1b[2J")),
        held(waiting(), reason="x\nfinished: all\x1b[2J"),
    ],
)
def test_nobody_can_forge_a_beat_or_drive_the_terminal(history: History) -> None:
    words = said(history)
    assert words is not None
    assert words.endswith(r"x finished: all\x1b[2J")
