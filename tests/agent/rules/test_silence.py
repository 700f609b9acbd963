"""What falls due by time alone, and what is recorded of it."""

from __future__ import annotations

from datetime import timedelta

import pytest

from agent.rules.events import Event
from agent.rules.ids import Principal
from agent.rules.interventions import StopRequested
from agent.rules.parts import OnExpiry, Patience
from agent.rules.silence import Due, mark, next_time, whats_due
from tests.agent.rules.deciding import A1, A2
from tests.agent.rules.happenings import (
    CAROL,
    HOUR,
    LEGAL,
    escalated,
    expired,
    held,
    reminded,
    stop_wanted,
    waits,
)
from tests.agent.rules.histories import SECOND, History, approved, asked, begun, judged, replied

FULL = Patience(expires=5 * HOUR, remind=HOUR * 3 / 2, escalate=(LEGAL, CAROL))


def marked(history: History, after: timedelta) -> list[Event]:
    state = history.state
    return list(mark(state, whats_due(state, history.now + after)))


def test_whoever_waits_for_ever_is_not_woken_by_time() -> None:
    history = waits(Patience())
    assert next_time(history.state) is None
    assert whats_due(history.state, history.now + 10_000 * HOUR) == ()


@pytest.mark.parametrize(
    ("patience", "first"),
    [
        (Patience(expires=HOUR), HOUR),
        (Patience(remind=2 * HOUR), 2 * HOUR),
        (Patience(escalate=(LEGAL, CAROL)), HOUR),
        (Patience(expires=3 * HOUR, remind=2 * HOUR, escalate=(CAROL,)), 2 * HOUR),
        (Patience(expires=3 * HOUR, remind=4 * HOUR), 3 * HOUR),
    ],
)
def test_the_next_time_is_the_first_of_all(patience: Patience, first: timedelta) -> None:
    history = waits(patience)
    assert next_time(history.state) == history.now + first
    assert whats_due(history.state, history.now + first - SECOND) == ()
    assert whats_due(history.state, history.now + first) != ()


def test_each_thing_comes_at_its_time_with_its_number() -> None:
    history, began = waits(FULL), waits(FULL).now
    assert whats_due(history.state, began + HOUR) == (Due("escalate", A1, began + HOUR, 1),)
    history = history.then(escalated(1), after=HOUR)
    assert next_time(history.state) == began + HOUR * 3 / 2
    assert whats_due(history.state, began + HOUR * 3 / 2) == (
        Due("remind", A1, began + HOUR * 3 / 2, 1),
    )
    history = history.then(reminded(1), after=HOUR / 2)
    assert next_time(history.state) == began + 2 * HOUR
    history = history.then(escalated(1, 2), after=HOUR / 2)
    # The second reminder; nobody is left to be asked as well.
    assert next_time(history.state) == began + 3 * HOUR
    assert whats_due(history.state, began + 3 * HOUR) == (Due("remind", A1, began + 3 * HOUR, 2),)


def test_what_fell_due_meanwhile_comes_oldest_first() -> None:
    history = waits(FULL)
    assert [(due.kind, due.at - history.now) for due in whats_due(history.state, history.now + 4 * HOUR)] == [
        ("escalate", HOUR),
        ("remind", 3 * HOUR),
    ]  # fmt: skip


def test_reminders_that_were_missed_are_one() -> None:
    history = waits(Patience(remind=HOUR))
    assert marked(history, 3.5 * HOUR) == [reminded(1, 3)]
    history = history.then(reminded(1, 3), after=3.5 * HOUR)
    assert next_time(history.state) == waits(Patience(remind=HOUR)).now + 4 * HOUR


def test_of_one_question_people_are_reminded_twenty_times_and_no_more() -> None:
    began = waits(Patience(remind=HOUR)).now
    history = waits(Patience(remind=HOUR)).then(reminded(1, 19), after=19 * HOUR)
    assert next_time(history.state) == began + 20 * HOUR
    assert marked(history, 99 * HOUR) == [reminded(1, 20)]
    history = history.then(reminded(1, 20), after=HOUR)
    assert next_time(history.state) is None
    assert marked(history, 99 * HOUR) == []


def test_a_question_that_closes_reminds_nobody_and_asks_nobody_else() -> None:
    history = waits(FULL)
    assert marked(history, 5 * HOUR) == [expired(1)]


def test_of_several_questions_each_has_its_own_time() -> None:
    history = begun().then(replied(1, 2)).then(judged(1, "ask"), judged(2, "ask"))
    patience = Patience(remind=HOUR)
    history = history.then(asked(2, patience=patience))
    history = history.then(asked(1, patience=patience), after=60 * SECOND)
    assert next_time(history.state) == history.now - 60 * SECOND + HOUR
    assert marked(history, HOUR - SECOND) == [reminded(2)]
    assert marked(history, HOUR) == [reminded(2), reminded(1)]


def test_of_what_is_closed_nothing_falls_due() -> None:
    for closing in (approved(1), expired(1), stop_wanted()):
        history = waits(FULL).then(closing)
        assert next_time(history.state) is None
        assert whats_due(history.state, history.now + 100 * HOUR) == ()


def test_a_hold_does_not_stop_the_clock() -> None:
    history = waits(FULL)
    assert next_time(history.then(held()).state) == next_time(history.state)


@pytest.mark.parametrize("then", ["wait", "deny"])
def test_silence_is_what_the_rule_says(then: OnExpiry) -> None:
    history = waits(Patience(expires=HOUR, on_expiry=then))
    assert marked(history, HOUR) == [expired(1, then)]


def test_a_silence_that_stops_the_run_says_who_and_why() -> None:
    history = waits(Patience(expires=HOUR, on_expiry="stop"))
    assert marked(history, HOUR) == [
        expired(1, "stop"),
        StopRequested(
            by=Principal("policy:silence"), reason="Nobody decided in time: Refund an order"
        ),
    ]


def test_once_a_silence_has_stopped_the_run_nothing_else_is_due() -> None:
    """Else the run was stopped twice, and people were reminded of what was closed."""
    patience = Patience(expires=HOUR, on_expiry="stop")
    history = begun().then(replied(1, 2, 3))
    history = history.then(*(judged(n, "ask") for n in (1, 2, 3)))
    expires_at = history.now + SECOND + HOUR
    history = history.then(
        asked(1, patience=Patience(remind=HOUR / 2)),
        asked(2, patience=patience, expires_at=expires_at),
        asked(3, patience=patience, expires_at=expires_at),
    )
    kinds = [event.kind for event in marked(history, HOUR)]
    assert kinds == ["approval_reminded", "approval_expired", "stop_requested"]


def test_the_next_of_the_chain_is_asked_until_nobody_is_left() -> None:
    patience = Patience(expires=3 * HOUR, on_expiry="escalate", escalate=(LEGAL,))
    assert marked(waits(patience), 3 * HOUR) == [expired(1, "escalate")]
    history = waits(patience).then(escalated(1), after=HOUR)
    assert marked(history, 2 * HOUR) == [expired(1, "wait")]


def test_what_is_left_of_the_chain_is_what_comes_after_the_stage() -> None:
    assert FULL.after(0) == FULL
    assert FULL.after(1) == FULL.model_copy(update={"escalate": (CAROL,)})
    assert FULL.after(2).escalate == ()


def test_what_falls_due_at_one_time_is_told_in_the_order_of_the_questions() -> None:
    history = begun().then(replied(1, 2)).then(judged(1, "ask"), judged(2, "ask"))
    patience = Patience(remind=HOUR)
    history = history.then(asked(2, patience=patience), asked(1, patience=patience))
    due = whats_due(history.state, history.now + HOUR)
    assert [one.approval_id for one in due] == [A1, A2]


def test_a_silence_that_stops_nothing_keeps_nothing_else_back() -> None:
    history = begun().then(replied(1, 2)).then(judged(1, "ask"), judged(2, "ask"))
    expires_at = history.now + SECOND + HOUR
    patience = Patience(expires=HOUR)
    history = history.then(
        asked(1, patience=patience, expires_at=expires_at),
        asked(2, patience=patience, expires_at=expires_at),
    )
    assert marked(history, HOUR) == [expired(1), expired(2)]
