"""What may go, and when: a table, and what may never be gone."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.rules.events import CallJudged
from agent.rules.parts import LimitUse
from agent.rules.purges import LEVELS, Removed, level_of
from agent.rules.recorded import Recorded
from agent.rules.retention import (
    DRAWN_WITHIN,
    KEY_IS_YOUNG,
    STATUSES,
    Ended,
    Resting,
    Retention,
    Spared,
    may_go,
)
from agent.rules.state import RunState
from tests.agent.rules.golden import read_golden
from tests.agent.rules.histories import History
from tests.agent.rules.legal_histories import legal_histories
from tests.agent.rules.legally import legally

DAY = timedelta(days=1)


def keeping(**days: int) -> Retention:
    assert days.keys() <= set(LEVELS)
    return Retention(
        {name: dict.fromkeys(STATUSES, days[name] * DAY) for name in LEVELS if name in days}
    )


ALL = keeping(payloads=30, transcripts=90, audit=700)
FINISHED = History(tuple(read_golden("0.1.0-refund-steered"))).state
SUMMED_UP = History(tuple(read_golden("0.1.0-a-long-conversation"))).state
RESTING = Resting(
    status=FINISHED.ending or "",
    started_at=FINISHED.started_at,
    moved_at=FINISHED.updated_at,
    level=0,
)
ENDED = RESTING.moved_at


def after(days: float, resting: Resting = RESTING, retention: Retention = ALL) -> object:
    """What goes of a run so long after its end, or why nothing does."""
    decided = may_go(resting, FINISHED, retention, resting.moved_at + days * DAY)
    return decided.why if isinstance(decided, Spared) else decided


@pytest.mark.parametrize(
    ("days", "goes"),
    [
        (29.9, "it is not old enough"),
        (30, "payloads"),
        (89.9, "payloads"),
        (90, "transcripts"),
        (699.9, "transcripts"),
        (700, "audit"),
    ],
)
def test_each_kind_goes_at_its_age(days: float, goes: str) -> None:
    assert after(days) == goes


@pytest.mark.parametrize(
    ("level", "days", "goes"),
    [
        (1, 89, "it is not old enough"),
        (1, 90, "transcripts"),
        (2, 699, "it is not old enough"),
        (2, 9_000, "audit"),
        (3, 9_000, "it is not old enough"),
    ],
)
def test_what_is_gone_goes_once(level: int, days: float, goes: str) -> None:
    assert after(days, replace(RESTING, level=level)) == goes


@pytest.mark.parametrize(
    ("known", "goes"),
    [
        ({"status": "active"}, "it has not ended"),
        ({"is_held": True}, "somebody is at it"),
        ({"is_asked_about": True}, "what became of an effect is still asked"),
        ({"has_grant": True}, "transcripts"),
        ({"counts_in": frozenset({"a limit of before"})}, "transcripts"),
        ({"is_newest": True}, "audit"),
    ],
)
def test_what_something_needs_stays(known: dict[str, Any], goes: str) -> None:
    assert after(9_000, replace(RESTING, **known)) == goes


@pytest.mark.parametrize(
    ("use", "is_alone", "goes"),
    [
        ({"until": ENDED + 8_999 * DAY}, False, "audit"),
        ({"until": ENDED + 8_999.5 * DAY}, False, "transcripts"),
        ({"per": ("run",)}, False, "audit"),
        ({"per": ("session",)}, False, "transcripts"),
        ({"per": ("session",)}, True, "audit"),
        ({}, True, "transcripts"),
    ],
)
def test_what_was_used_of_a_limit_counts_until_its_window_is_over(
    use: dict[str, object], is_alone: bool, goes: str
) -> None:
    told = LimitUse(key="k", used=Decimal(1), amount=Decimal(1), max=Decimal(2))
    state = used_of(told.model_copy(update=use))
    resting = replace(RESTING, counts_in=frozenset({"k"}), is_alone=is_alone)
    assert may_go(resting, state, ALL, ENDED + 9_000 * DAY) == goes


def used_of(use: LimitUse) -> RunState:
    """The same run, of whose call this was said."""
    recorded = read_golden("0.1.0-refund-steered")
    return History(tuple(_with_limit(one, use) for one in recorded)).state


def _with_limit(one: Recorded, use: LimitUse) -> Recorded:
    if not isinstance(one.event, CallJudged):
        return one
    verdict = one.event.verdict.model_copy(update={"limit": use})
    return replace(one, event=one.event.model_copy(update={"verdict": verdict}))


@pytest.mark.parametrize(("is_newest", "goes"), [(True, "payloads"), (False, "audit")])
def test_the_newest_summary_of_a_conversation_stays(is_newest: bool, goes: str) -> None:
    resting = replace(RESTING, status=SUMMED_UP.ending or "", is_newest=is_newest)
    assert may_go(resting, SUMMED_UP, ALL, resting.moved_at + 9_000 * DAY) == goes


def test_a_young_start_is_found_with_its_words() -> None:
    """Whatever the limits say: who reads the file refuses such, and this holds all the same."""
    retention = keeping(payloads=1, transcripts=2, audit=3)
    young = replace(RESTING, started_at=RESTING.moved_at - timedelta(hours=1))
    days = KEY_IS_YOUNG / DAY
    assert after(days - 0.1, young, retention) == "payloads"
    assert after(days, young, retention) == "audit"


def test_what_its_thread_does_not_show_yet_stays_for_a_week() -> None:
    """Slack was away: what is posted then is to be what was said. Its channel may be gone for good."""
    undrawn, retention = replace(RESTING, is_undrawn=True), keeping(payloads=1)
    days = DRAWN_WITHIN / DAY
    assert after(1, retention=retention) == "payloads"
    assert after(days - 0.1, undrawn, retention) == "its thread does not show its end yet"
    assert after(days, undrawn, retention) == "payloads"


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ({"moved_at": ENDED - 9_000 * DAY}, "it is not old enough"),
        ({"status": "failed"}, "its row does not say how it ended"),
    ],
)
def test_a_row_that_says_otherwise_makes_nothing_go(row: dict[str, Any], why: str) -> None:
    assert may_go(replace(RESTING, **row), FINISHED, ALL, ENDED + DAY) == Spared(why)


def test_each_ending_has_its_own_limit() -> None:
    retention = Retention({"payloads": {"failed": 5 * DAY}})
    assert after(9_000, retention=retention) == "it is not old enough"
    assert list(retention.steps()) == [("failed", 0, 5 * DAY)]


def test_without_limits_everything_stays() -> None:
    assert Retention().keeps_all
    assert after(9_000, retention=Retention()) == "it is not old enough"
    assert list(Retention().steps()) == []


LIMITS = st.dictionaries(
    st.sampled_from(LEVELS),
    st.dictionaries(st.sampled_from(STATUSES), st.integers(1, 60).map(lambda n: n * DAY)),
)
STATES = st.builds(
    Resting,
    status=st.sampled_from((*STATUSES, "active")),
    started_at=st.just(RESTING.started_at),
    moved_at=st.just(RESTING.moved_at),
    level=st.integers(0, 3),
    is_held=st.booleans(),
    is_asked_about=st.booleans(),
    is_undrawn=st.booleans(),
    is_newest=st.booleans(),
    has_grant=st.booleans(),
    counts_in=st.frozensets(st.just("a limit of before")),
)


@legally
@given(legal_histories(), LIMITS, STATES, st.integers(0, 90))
def test_what_may_never_go_never_does(
    history: History, limits: dict[Removed, dict[Ended, timedelta]], resting: Resting, days: int
) -> None:
    state: RunState = history.state
    retention, age = Retention(limits), days * DAY
    goes = may_go(resting, state, retention, resting.moved_at + age)
    if isinstance(goes, Spared):
        return
    assert state.is_ended
    assert not resting.is_held
    assert not resting.is_undrawn or age >= DRAWN_WITHIN
    assert not resting.is_asked_about
    assert not any(one.status == "pending" for one in state.approvals.values())
    assert not any(one.status in ("started", "unknown") for one in state.calls.values())
    assert level_of(goes) > resting.level
    assert any(limit <= age for limit in limits[goes].values())
    if goes != "payloads":
        assert not (resting.is_newest and state.summary)
        assert resting.moved_at + age - resting.started_at >= KEY_IS_YOUNG
    if goes == "audit":
        assert not resting.has_grant
        assert not resting.counts_in
    # Whoever looks for what is due finds it.
    assert any(
        status == resting.status and level == resting.level and least <= age
        for status, level, least in retention.steps()
    )
