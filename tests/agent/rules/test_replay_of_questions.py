"""Replaying what people were asked, and what is said to have been decided: all of it follows from the run."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from agent.rules.budgets import Budget
from agent.rules.decisions import Steer
from agent.rules.events import ApprovalDecided, ApprovalRequested
from agent.rules.parts import Patience
from agent.rules.recorded import Recorded
from agent.rules.replaying.replay import replay
from tests.agent.rules.deciding import take
from tests.agent.rules.golden import read_golden
from tests.agent.rules.happenings import HOUR, more_wanted, question_of, spent, waits
from tests.agent.rules.histories import SECOND, judged, started, waiting
from tests.agent.rules.judges import RefundJudge

ASKS = "0.1.0-a-budget-that-asks"
STOPS = "0.1.0-a-budget-that-stops"
PEOPLE = "0.1.0-people-and-time"
ONE = Budget(model_calls=1)


def changed(name: str, seq: int, **fields: Any) -> list[Recorded]:
    """A golden journal in which one event says something else."""
    journal = read_golden(name)
    one = journal[seq - 1]
    journal[seq - 1] = replace(one, event=one.event.model_copy(update=fields))
    return journal


def args_of(name: str, seq: int, **args: object) -> dict[str, object]:
    return {**question_of(read_golden(name)[seq - 1].event).args, **args}


@pytest.mark.parametrize(
    "fields",
    [
        {"hash": "0" * 64},
        {"title": "Lunch"},
        {"reason": "harmless"},
        {"rule": "allow all"},
        {"policy_version": "policy-9"},
        {"preview": "nothing happens"},
        {"group": "grp_x"},
        {"again_because": "somebody wished"},
        {"approval_kind": "question"},
        {"patience": Patience(expires=timedelta(hours=3), on_expiry="deny")},
        {"expires_at": read_golden(PEOPLE)[3].at + timedelta(days=300)},
    ],
    ids=lambda fields: next(iter(fields)),
)
def test_a_question_about_a_call_says_what_follows_from_its_verdict(fields: dict[str, Any]) -> None:
    assert [one.seq for one in replay(changed(PEOPLE, 4, **fields))][:1] == [4]


@pytest.mark.parametrize("budget", [ONE, None])
@pytest.mark.parametrize(
    "fields",
    [
        {"hash": "0" * 64},
        {"title": "Lunch"},
        {"reason": "All is well"},
        {"rule": "none"},
        {"group": "grp_x"},
        {"args": args_of(ASKS, 6, used="0")},
    ],
    ids=lambda fields: next(iter(fields)) if isinstance(fields, dict) else None,
)
def test_a_question_about_a_budget_says_what_was_used(
    fields: dict[str, Any], budget: Budget | None
) -> None:
    assert [one.seq for one in replay(changed(ASKS, 6, **fields), budget)][:1] == [6]


@pytest.mark.parametrize("args", [{"more": "9999"}, {"limit": "500"}])
def test_a_budget_that_is_known_is_asked_for_as_it_is(args: dict[str, str]) -> None:
    assert replay(changed(ASKS, 6, args=args_of(ASKS, 6, **args)), ONE) != []


@pytest.mark.parametrize("name", ["tokensx", "", None, 7, ["tokens"]])
def test_a_budget_of_no_kind_is_a_difference_and_no_error(name: object) -> None:
    """Also where nobody decides on it."""
    args = args_of(ASKS, 6, budget=name)
    for budget in (ONE, None):
        assert replay(changed(ASKS, 6, args=args), budget) != []
        assert replay(changed(ASKS, 6, args=args)[:6], budget) != []


@pytest.mark.parametrize("fields", [{"used": "77"}, {"limit": "99"}, {"used": "x"}, {"limit": ""}])
@pytest.mark.parametrize("budget", [Budget(model_calls=1, on_reached="stop"), None])
def test_a_budget_that_stops_says_what_was_used(
    fields: dict[str, str], budget: Budget | None
) -> None:
    assert replay(read_golden(STOPS), budget) == []
    assert [one.seq for one in replay(changed(STOPS, 6, **fields), budget)][:1] == [6]


def test_a_budget_that_stops_says_so_in_its_stop() -> None:
    assert replay(changed(STOPS, 7, reason="somebody was tired")) != []


def test_a_question_about_a_budget_is_right_where_it_is_asked() -> None:
    budget = Budget(model_calls=2, tokens=1_000, cost_usd=Decimal(5))
    asked = spent(2).then(*more_wanted(spent(2), budget))
    assert replay(asked.recorded, budget) == replay(asked.recorded) == []


DAVE = "slack:T0OTHER:U0DAVE"


@pytest.mark.parametrize(
    "word",
    [
        {"by": DAVE, "authority": "listed"},
        {"by": DAVE, "authority": "operator"},
        {"by": DAVE, "authority": "code"},
        {"by": "cli:test", "authority": "code"},
        {"by": "code:small_ones", "authority": "operator"},
        {"by": "policy:silence", "authority": "operator"},
    ],
)
def test_nobody_decides_by_what_they_are_not(word: dict[str, str]) -> None:
    journal = changed(ASKS, 7, user=None, groups=(), **word)
    assert [one.seq for one in replay(journal, ONE)][:1] == [7]


def test_a_look_that_somebody_wanted_is_no_yes() -> None:
    assert read_golden("0.1.0-failed-and-taken-on-again")[6].event.kind == "approval_decided"
    assert replay(changed("0.1.0-failed-and-taken-on-again", 7, action="approve")) != []
    old = read_golden("0.1.0-effect-unknown")[15].event
    assert isinstance(old, ApprovalDecided)
    assert old.outcome == "check"
    assert replay(changed("0.1.0-effect-unknown", 16, action="approve")) != []


def test_a_verdict_that_stands_twice_shows() -> None:
    """A call is judged anew when it is about to start, but only where it is to be asked about."""
    before = started().first(3)
    assert replay(before.then(judged(1)).recorded) != []
    asked_about = before.then(judged(1, "ask", again_because="the policy now asks"))
    assert replay(asked_about.recorded) == []
    assert replay(waiting().first(3).then(judged(1, "ask", again_because="so")).recorded) != []


def test_a_question_that_a_steer_asks_waits_as_long_as_its_verdict_says() -> None:
    history = waits(Patience(expires=HOUR))
    patient = RefundJudge(patience=Patience(expires=HOUR))
    steered = take(history, Steer({"amount": 150}), now=history.now + SECOND, judge=patient)
    assert replay(history.then(*steered).recorded) == []
    too_long = [
        one.model_copy(update={"expires_at": history.now + 300 * HOUR})
        if isinstance(one, ApprovalRequested)
        else one
        for one in steered
    ]
    assert replay(history.then(*too_long).recorded) != []
