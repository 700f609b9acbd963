"""Slack delivers what is said late, twice and in any order: what a message means is judged by when it was said."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from agent.rules.events import RunStarted
from agent.rules.ids import BY_SILENCE
from agent.rules.interventions import RunCancelled, RunHeld, RunResumed, StopRequested
from bot.slack.conversation.apart import Apart
from bot.slack.conversation.following import is_before_the_stop, is_of_an_older_run
from bot.slack.interruptions import Interruption
from bot.slack.messages import Message, address_of
from bot.slack.payloads import Actor
from bot.slack.since import is_done, is_undone
from tests.agent.rules.histories import ALICE, BEGAN, BOB, History, begun, waiting

SECOND = timedelta(seconds=1)


def message(ts: str = "1796000000.000200") -> Message:
    return Message(Actor("U0BOB"), "T0PILOT", "C0SUPPORT", ts, "1.2", "stop", is_direct=False)


def begun_by(ref: str | None) -> History:
    first = begun().recorded[0].event
    assert isinstance(first, RunStarted)
    return History().then(first.model_copy(update={"ref": ref}))


def test_a_message_says_when_it_was_said() -> None:
    assert message("1796000000.500000").said_at == datetime.fromtimestamp(1796000000.5, UTC)
    found = address_of(message().key)
    assert found is not None
    assert (found.channel, found.ts) == ("C0SUPPORT", "1796000000.000200")


PAUSED = waiting().then(RunHeld(by=BOB))
RESUMED = PAUSED.then(RunResumed(by=BOB))
STOPPED = waiting().then(StopRequested(by=ALICE), RunCancelled())


#: For each word and what was done last: whether it is done already, or undone, if it was said a moment before that.
SINCE: list[tuple[Interruption, History, tuple[bool, bool]]] = [
    ("pause", waiting(), (False, False)),
    ("pause", PAUSED, (True, False)),
    ("pause", RESUMED, (False, True)),
    ("resume", waiting(), (False, False)),
    ("resume", PAUSED, (False, True)),
    ("resume", RESUMED, (True, False)),
    ("stop", waiting(), (False, False)),
    ("stop", PAUSED, (False, False)),
    ("stop", STOPPED, (True, False)),
]


@pytest.mark.parametrize(("how", "history", "expected"), SINCE)
def test_a_word_of_before_is_not_done_twice_and_undoes_nothing(
    how: Interruption, history: History, expected: tuple[bool, bool]
) -> None:
    state, before, after = history.state, history.now - 3 * SECOND, history.now + SECOND
    assert (is_done(state, how, before), is_undone(state, how, before)) == expected
    assert (is_done(state, how, after), is_undone(state, how, after)) == (False, False)


@pytest.mark.parametrize(
    ("ref", "expected"),
    [
        ("slack:T0PILOT:C0SUPPORT:1796000000.000100", False),
        ("slack:T0PILOT:C0SUPPORT:1796000000.000200", False),
        ("slack:T0PILOT:C0SUPPORT:1796000000.000300", True),
        # A command's run, and those of other programs, began with no message.
        (None, False),
        ("mail:7", False),
        ("slack:T0PILOT:C0SUPPORT:nonsense", False),
    ],
)
def test_what_was_said_before_the_run_began_is_not_of_it(
    ref: str | None, *, expected: bool
) -> None:
    assert is_of_an_older_run(begun_by(ref).state, message()) is expected


@pytest.mark.parametrize(
    ("history", "said_at", "expected"),
    [
        (STOPPED, STOPPED.now - SECOND, True),
        (STOPPED, STOPPED.now + SECOND, False),
        # It may be said to a run that is being stopped: that says so itself.
        (waiting().then(StopRequested(by=ALICE)), BEGAN, False),
        (waiting().then(StopRequested(by=BY_SILENCE), RunCancelled()), BEGAN, False),
        (waiting(), BEGAN, False),
    ],
)
def test_what_was_said_before_people_stopped_the_run_begins_nothing(
    history: History, said_at: datetime, *, expected: bool
) -> None:
    assert is_before_the_stop(history.state, said_at) is expected


@pytest.mark.parametrize(
    ("behind", "late", "expected"),
    [
        # Seconds by which Slack's clock is behind, by which a message before came late, and what is counted.
        (4.0, 0.0, 4.0),
        (-4.0, 0.0, -4.0),
        (0.0, 0.0, 0.0),
        (0.0, 60.0, 5.0),
    ],
)
def test_what_is_said_is_compared_with_what_was_done_by_one_clock(
    behind: float, late: float, expected: float
) -> None:
    apart, said_at = Apart(), PAUSED.now
    assert apart.by_store(said_at) == said_at
    apart.heard(said_at, said_at + (behind + late) * SECOND)
    assert apart.by_store(said_at) == said_at + expected * SECOND
    apart.heard(said_at, said_at + (behind + late + 30) * SECOND)
    assert apart.by_store(said_at) == said_at + expected * SECOND, "one that comes later says less"
    apart.heard(said_at, said_at + behind * SECOND)
    assert apart.by_store(said_at) == said_at + behind * SECOND
    # So what is said a moment after something was done is not taken for older.
    after = PAUSED.now + SECOND - behind * SECOND
    assert not is_undone(PAUSED.state, "resume", apart.by_store(after))
    after = STOPPED.now + SECOND - behind * SECOND
    assert not is_before_the_stop(STOPPED.state, apart.by_store(after))
