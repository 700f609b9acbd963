"""For how long what an ended run used of a limit counts: never too short, by what keys are made of."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.rules.limit_lives import JUDGED_LATE, Counts, counting
from agent.rules.parts import LimitUse
from agent.rules.policy import Policy, Subject
from tests.agent.rules.judging import policy as limited_by
from tests.agent.rules.test_limiting import asks_about, key, used

NOW = datetime(2026, 11, 30, 18, tzinfo=UTC)
BY = ("user", "agent", "channel", "session", "tool", "run")
WINDOWS = ("hour", "day", "week", "month")
ZONES = ("UTC", "Europe/Berlin", "Australia/Lord_Howe", "Pacific/Apia", "America/Santiago")
MOMENTS = st.timedeltas(timedelta(0), timedelta(days=7_000)).map(lambda age: NOW - age)


def use_of(policy: Policy, asked: Subject, at: datetime) -> LimitUse:
    use = policy.judge(asked, used(policy, asked, at=at)).limit
    assert use is not None
    return use


@given(
    st.frozensets(st.sampled_from(BY)),
    st.sampled_from((*WINDOWS, None)),
    st.sampled_from(ZONES),
    MOMENTS,
    st.timedeltas(timedelta(0), timedelta(days=80)),
    st.timedeltas(timedelta(0), timedelta(days=3_000)),
)
def test_nothing_is_counted_by_a_key_that_counts_no_more(
    by: frozenset[str],
    window: str | None,
    zone: str,
    at: datetime,
    age: timedelta,
    later: timedelta,
) -> None:
    limit: dict[str, Any] = {"sum": "args.amount", "max": 500, "per": sorted(by)}
    if window is not None:
        limit |= {"per": [*sorted(by), window], "zone": zone}
    policy = limited_by({"tool": "process_refund", "action": "allow", "limit": limit})
    asked = asks_about()
    use = use_of(policy, asked, at)
    counts = counting({use.key}, [use], at + age)
    # As late as whoever judged it before is still about to start it.
    then = at + age - JUDGED_LATE + later
    if counts is Counts.STILL:
        # Those of a window do not for ever.
        assert window is None or age < timedelta(days=33)
        return
    if counts is Counts.IN_ITS_SESSION:
        asked = elsewhere(asked, session="C1:9.9")
    elif "run" in by:
        asked = elsewhere(asked, run_id="run_of_later")
    assert then < at or key(policy, asked, then) != use.key


def elsewhere(asked: Subject, **place: Any) -> Subject:
    return replace(asked, place=replace(asked.place, **place))


USE = LimitUse(key="k", used=Decimal(1), amount=Decimal(1), max=Decimal(2))


@pytest.mark.parametrize(
    ("use", "keys", "counts"),
    [
        ({}, {"k"}, Counts.STILL),
        ({}, set(), Counts.NO_MORE),
        ({"per": ("run",)}, {"k"}, Counts.NO_MORE),
        ({"per": ("run",)}, {"k", "one of which nothing is known"}, Counts.STILL),
        ({"per": ("session",)}, {"k"}, Counts.IN_ITS_SESSION),
        ({"per": ("session", "day"), "until": NOW - JUDGED_LATE}, {"k"}, Counts.NO_MORE),
        ({"until": NOW - JUDGED_LATE}, {"k"}, Counts.NO_MORE),
        ({"until": NOW - JUDGED_LATE + timedelta(seconds=1)}, {"k"}, Counts.STILL),
    ],
)
def test_whether_it_counts(use: dict[str, Any], keys: set[str], counts: Counts) -> None:
    assert counting(keys, [USE.model_copy(update=use)], NOW) is counts
