"""What whoever pauses, resumes, stops or retries a run is told: what runs on, what had happened, what nobody knows."""

from __future__ import annotations

import re

import pytest

from agent.rules.events import CallReturned, RunFailed, RunReopened
from agent.rules.ids import BY_BUDGET, Principal, RunId
from agent.rules.interventions import (
    HistoryTaken,
    RunCancelled,
    RunHeld,
    RunResumed,
    StopRequested,
    TakenCall,
    TakenTurn,
)
from agent.rules.parts import Receipt
from bot.slack.cards.answer import answer_messages
from bot.slack.cards.status import status_message
from bot.slack.cards.under_way import (
    paused_answer,
    resumed_answer,
    retried_answer,
    stopped_answer,
)
from tests.agent.rules.histories import (
    ALICE,
    BOB,
    SECOND,
    TERM,
    History,
    approved,
    asked,
    begun,
    call_started,
    denied,
    in_review,
    judged,
    left_unknown,
    proposed_call,
    replied,
    returned,
    started,
    waiting,
)
from tests.bot.cards.checking import check_mrkdwn, shown
from tests.bot.cards.stories import questioned
from tests.bot.cards.waits import used_up

_DATE = re.compile(r"<!date\^\d+\^[^|]*\|[^>]* (\d\d:\d\d) UTC>")
CALL = "*Refund an order*"


def done(receipt: str | None = "re_1") -> History:
    """An approved refund was carried out."""
    history = waiting().then(approved(1))
    history = history.then(call_started(1, history.now + SECOND))
    committed = Receipt(status="committed", external_id=receipt)
    call_id = history.state.open_calls[0].id
    return history.then(CallReturned(call_id=call_id, output="done", receipt=committed))


def done_and_running() -> History:
    """One refund was carried out, another one runs, and a third one is asked."""
    history = begun().then(replied(1, 2, 3)).then(judged(1)).then(judged(2)).then(judged(3, "ask"))
    history = history.then(asked(3)).then(call_started(1, history.now)).then(returned(1))
    return history.then(call_started(2, history.now + SECOND))


def read_only() -> History:
    return started("read").then(returned(1))


def paused(history: History) -> str:
    return _DATE.sub(r"\1", paused_answer(history.then(RunHeld(by=BOB)).state, BOB))


def stopped(history: History, *, long_after: bool = False) -> str:
    after = 2 * TERM if long_after else SECOND
    return _DATE.sub(
        r"\1", stopped_answer(history.then(StopRequested(by=BOB), after=after).state, BOB)
    )


_PAUSED = "Paused: nothing new begins until somebody resumes it."
_STOPPED = "Stopped: nothing new begins."


@pytest.mark.parametrize(
    ("history", "words"),
    [
        (begun(), ""),
        (begun().then(replied(1)), ""),
        (started(), f" Still running: {CALL}, until 12:01 at most."),
        (started("read"), f" Still running: {CALL}, until 12:01 at most."),
        (done(), ""),
        (waiting(), " What it asks can be decided meanwhile."),
        (questioned(), " What it asks can be decided meanwhile."),
        (
            in_review(),
            f" Nobody knows whether this happened: {CALL}; people are asked in its thread.",
        ),
        (
            done_and_running(),
            f" Still running: {CALL}, until 12:01 at most. What it asks can be decided meanwhile.",
        ),
    ],
)
def test_a_pause_names_what_runs_on_and_nothing_else(history: History, words: str) -> None:
    assert paused(history) == f"{_PAUSED}{words}"


@pytest.mark.parametrize(
    ("history", "words"),
    [
        (begun(), " Nothing had been done."),
        (begun().then(replied(1)), " Nothing had been done."),
        (read_only(), " Nothing had been changed."),
        (
            started(),
            f" Still running: {CALL}, until 12:01 at most. It is waited for.",
        ),
        (done(), f" Done before: {CALL} (re_1)."),
        (waiting(), f" Nothing had been done. Asked, and not done: {CALL}."),
        (waiting().then(denied(1)), " Nothing had been done."),
        (questioned(), " Nothing had been done. Its question is closed."),
        (used_up(), " Nothing had been done. Its question is closed."),
        (
            in_review(),
            f" Nobody knows whether this happened: {CALL}; people are asked in its thread.",
        ),
        (
            started().then(left_unknown(1)),
            f" Nobody knows whether this happened: {CALL}.",
        ),
        (
            done_and_running(),
            f" Still running: {CALL}, until 12:01 at most. It is waited for."
            f" Done before: {CALL}. Asked, and not done: {CALL}.",
        ),
    ],
)
def test_a_stop_says_what_had_happened_and_what_still_runs(history: History, words: str) -> None:
    assert stopped(history) == f"{_STOPPED}{words}"


@pytest.mark.parametrize(
    ("by", "words"),
    [
        (BOB, "Already stopped by <@U0BOB>. Nothing new begins."),
        (BY_BUDGET, "Already stopped: its budget was used up. Nothing new begins."),
    ],
)
def test_whoever_is_second_is_told_who_was_first(by: Principal, words: str) -> None:
    held = begun().then(RunHeld(by=BOB)).state
    assert paused_answer(held, ALICE).startswith("Already paused by <@U0BOB>: nothing new begins")
    stopping = begun().then(StopRequested(by=by)).state
    assert stopped_answer(stopping, ALICE) == f"{words} Nothing had been done."


def test_what_was_asked_and_had_been_begun_before_is_not_said_to_be_not_done() -> None:
    again = judged(1, "ask", again_because="the tool has changed since it was approved")
    told = stopped(started().then(again).then(asked(1)))
    assert told == f"{_STOPPED} Nobody knows whether this happened: {CALL}."


def test_what_nobody_can_be_running_any_more_is_not_said_to_run() -> None:
    told = stopped(started(), long_after=True)
    assert told == f"{_STOPPED} Nobody knows whether this happened: {CALL}."


@pytest.mark.parametrize(
    ("history", "words"),
    [
        (started(), "It goes on."),
        (waiting(), "It goes on: waiting for a decision."),
        (questioned(), "It goes on: waiting for an answer."),
    ],
)
def test_a_resumed_run_is_not_said_to_do_more_than_it_does(history: History, words: str) -> None:
    assert resumed_answer(history.then(RunHeld(by=BOB), RunResumed(by=ALICE)).state) == words


@pytest.mark.parametrize(
    ("history", "more"),
    [
        (begun(), ""),
        (read_only(), ""),
        (started(), ""),
        (done(), " What was done is not done again."),
    ],
)
def test_a_retry_speaks_of_what_was_done_only_where_something_was(
    history: History, more: str
) -> None:
    history = history.then(RunFailed(error="no model")).then(RunReopened(by=BOB))
    assert retried_answer(history.state) == f"It goes on from where it had failed.{more}"


@pytest.mark.parametrize("event", [RunHeld(by=BOB), StopRequested(by=BOB)])
def test_the_status_says_what_runs_on_and_until_when(event: RunHeld | StopRequested) -> None:
    told = shown(status_message(started().then(event).state).blocks)
    assert f"still running: {CALL}, until 12:01 at most" in _DATE.sub(r"\1", told)
    for other in (waiting(), done(), begun()):
        told = shown(status_message(other.then(event).state).blocks)
        assert "still running" not in told
        assert "waited for" not in told


def test_after_the_end_the_status_says_nothing_of_running() -> None:
    over = started().then(StopRequested(by=BOB)).then(returned(1)).then(RunCancelled())
    assert "still running" not in shown(status_message(over.state).blocks)


def test_what_a_fork_took_over_is_not_said_to_have_been_done_by_it() -> None:
    taken = TakenCall(
        proposed=proposed_call(1),
        title="Refund an order",
        attempts=1,
        outcome="ok",
        told="done",
        receipt=Receipt(status="committed", external_id="re_1"),
    )
    turn = TakenTurn(calls=(taken,))
    fork = begun().then(HistoryTaken(of_run=RunId("run_0"), up_to=9, turns=(turn,)))
    assert stopped(fork) == f"{_STOPPED} Nothing had been done."
    over = fork.then(StopRequested(by=BOB), RunCancelled())
    told = shown(answer_messages(over.state)[0].blocks)
    assert "Nothing was done." in told
    assert "Done: " not in told


def test_titles_stay_data() -> None:
    evil = judged(1).model_copy(update={"title": "<!channel> *x*" * 20})
    history = begun().then(replied(1)).then(evil)
    history = history.then(call_started(1, history.now + SECOND))
    for event in (RunHeld(by=BOB), StopRequested(by=BOB)):
        state = history.then(event).state
        check_mrkdwn(paused_answer(state, BOB) + stopped_answer(state, BOB), [])
