"""Real processes fight for the runs of one store, and nothing that must not happen happens; where a
statement lacks its guard, it does happen, and the check sees it."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections import Counter
from dataclasses import asdict, replace

import pytest

from store import SqlStore
from tests.chaos.checking import anomalies
from tests.chaos.fighters import FOUGHT, WORKED, Plan
from tests.chaos.report import Report
from tests.chaos.unguarded import Guard
from tests.store.conftest import OpenAnother
from tests.store.database import ask
from tests.store.story import begin

#: By how many tries a guard that is missing shows.
FEW = 150
#: At the most, until a missing guard is seen.
FIGHTS = 6


@pytest.fixture
async def store(open_another: OpenAnother) -> SqlStore:
    """By the clock that the other processes go by."""
    return await open_another(clock=None)


async def fight(
    url: str, plan: Plan, store: SqlStore, *, worked: int, fought: int, before: int = 0
) -> list[Report]:
    """So many runs are worked by some and decided by others, and so many fought for; so many fights were
    ``before`` on the same store."""
    agents = [WORKED] * worked + [FOUGHT] * fought
    await asyncio.gather(
        *(
            begin(store.journal, store.clock, f"run_{n:03}", agent=agent)
            for n, agent in enumerate(agents, 1000 * before)
        )
    )
    fighters = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.chaos.fighters", url, json.dumps(asdict(plan))),
        stdout=asyncio.subprocess.PIPE,
        start_new_session=True,
    )
    try:
        out, _ = await fighters.communicate()
    finally:
        if fighters.returncode is None:
            # It has divided itself: all of them.
            os.killpg(fighters.pid, signal.SIGKILL)
    reports = [Report.read(one) for one in json.loads(out)]
    assert [one.error for one in reports if one.error] == []
    return reports


def total(reports: list[Report]) -> tuple[Counter[str], Counter[str]]:
    """What was tried, and what of it was refused."""
    none: Counter[str] = Counter()
    return sum((one.tries for one in reports), none), sum((one.refused for one in reports), none)


@pytest.mark.timeout(1200)
async def test_nothing_that_must_not_happen_happens(
    store: SqlStore, url: str, tries: int, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = Plan({"worker": 3, "decider": 3}, -(-tries // 3))
    reports = list[Report]()
    # Whether a decision comes between a look and a suspension is a matter of luck.
    for before in range(FIGHTS):
        reports += await fight(url, plan, store, worked=200, fought=4, before=before)
        if total(reports)[1]["suspend"]:
            break
    fights = Plan({"fighter": 4}, -(-tries // 4))
    reports += await fight(url, fights, store, worked=0, fought=0, before=before + 1)
    tried, refused = total(reports)
    for what in ("decide", "suspend", "claim", "fence"):
        assert tried[what] >= tries, f"{what}: {tried}"
    assert refused["fence"], "nobody was replaced while it slept"
    assert refused["suspend"], "nothing was decided between a look and a suspension"
    with capsys.disabled():
        sys.stdout.write(f"\ntried {dict(tried)}, of which refused {dict(refused)}\n")
    assert await anomalies(store, url, reports) == {}


CONTROLS: list[tuple[Guard, Plan, str]] = [
    (
        "head",
        Plan({"worker": 2, "decider": 2}, 5, decides_between=True),
        "asleep with unseen events",
    ),
    ("due", Plan({"worker": 3, "decider": 2}, FEW // 2), "two owners"),
    ("fence", Plan({"fighter": 4}, FEW // 2), "stale writes"),
]


@pytest.mark.timeout(180)
@pytest.mark.parametrize(("guard", "plan", "anomaly"), CONTROLS, ids=[one[0] for one in CONTROLS])
async def test_a_missing_guard_is_seen(
    store: SqlStore, url: str, guard: Guard, plan: Plan, anomaly: str
) -> None:
    without, reports = replace(plan, guard=guard), list[Report]()
    # Whether two meet where the guard would have stood is a matter of luck.
    for before in range(FIGHTS):
        reports += await fight(url, without, store, worked=200, fought=2, before=before)
        found = await anomalies(store, url, reports)
        if found[anomaly]:
            break
    assert found[anomaly] > 0, found


async def test_what_is_changed_by_hand_is_seen(store: SqlStore, url: str) -> None:
    reports = await fight(url, Plan({"worker": 1, "decider": 1}, 3), store, worked=2, fought=0)
    assert await anomalies(store, url, reports) == {}
    for change, anomaly in (
        ("UPDATE runs SET fence = fence + 1", "lost or double claims"),
        ("UPDATE approvals SET status = 'denied'", "projections are not the fold's"),
        ("UPDATE runs SET head_hash = ''", "broken chain"),
    ):
        ask(url, change)
        assert (await anomalies(store, url, reports))[anomaly] > 0
