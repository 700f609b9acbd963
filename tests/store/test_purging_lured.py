"""Whoever has the database has the bots remove nothing before its time: what they remove they vouch for."""

from __future__ import annotations

from datetime import timedelta

import pytest

from agent.rules.events import RunFinished
from agent.rules.ids import RunId
from agent.rules.retention import STATUSES, Retention
from agent.verifying import verify
from store import SqlStore
from tests.store.clock import ManualClock
from tests.store.database import ask
from tests.store.story import begin, replied, stamps
from tests.store.test_purging import ALL, bodies, end_run, keeping, sweep

DAY = timedelta(days=1)


async def removes_nothing(store: SqlStore, url: str, retention: Retention = ALL) -> None:
    before = bodies(url)
    assert not (await sweep(store, retention)).removed
    assert bodies(url) == before
    verified = await verify(store.verifier)
    assert (verified.partly_removed, verified.purged) == (0, 0)


@pytest.mark.parametrize("column", ["updated_at", "started_at"])
async def test_a_row_that_says_that_it_is_old_makes_no_run_old(
    store: SqlStore, clock: ManualClock, url: str, column: str
) -> None:
    """Nor may a start be forgotten within its week, for its row is dated back."""
    await end_run(store, clock)
    retention = keeping(payloads=30)
    if column == "started_at":
        # Shorter than a file may say, so that nothing but the start's own age keeps it.
        clock.move(2 * DAY)
        retention = keeping(transcripts=1)
    ask(url, f"UPDATE runs SET {column} = 0")
    await removes_nothing(store, url, retention)


async def test_a_row_that_says_that_it_ended_otherwise_makes_no_limit_shorter(
    store: SqlStore, clock: ManualClock, url: str
) -> None:
    await end_run(store, clock)
    clock.move(40 * DAY)
    ask(url, "UPDATE runs SET status = 'failed'")
    short_of_failed = Retention({"payloads": {"failed": 30 * DAY, "finished": 90 * DAY}})
    await removes_nothing(store, url, short_of_failed)


@pytest.mark.parametrize("level", [1, 2, 3])
@pytest.mark.parametrize("is_ended", [True, False])
async def test_a_row_that_says_that_it_was_begun_begins_nothing(
    store: SqlStore, clock: ManualClock, url: str, level: int, is_ended: bool
) -> None:
    run_id = await begin(store.journal, clock)
    events = [replied(text="a word") for _ in range(6)]
    end = [RunFinished(answer="done")] if is_ended else []
    await store.journal.intend(run_id, stamps(clock, *events, *end), expected_seq=1)
    ask(url, f"UPDATE runs SET status = 'finished', purged = {level}, purged_to = 1")
    before = bodies(url)
    assert not (await sweep(store)).removed
    assert bodies(url) == before
    ask(url, f"UPDATE runs SET purged_to = {len(events)}")
    assert not (await sweep(store, Retention({"payloads": dict.fromkeys(STATUSES, DAY)}))).removed
    assert bodies(url) == before
    assert ask(url, "SELECT count(*) FROM runs WHERE run_id = ?", RunId("run_1")) == [(1,)]
