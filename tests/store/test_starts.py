"""How many runs one principal may start of an agent within a time, also from two processes at once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta

import asyncpg
import pytest

from agent.errors import SessionBusy, TooManyStarts
from agent.ports import StartsLimit
from agent.rules.events import RunFinished
from agent.rules.ids import RunId
from store import SqlStore
from tests.store.clock import ManualClock
from tests.store.conftest import OpenAnother, on_postgres
from tests.store.story import ALICE, BOB, stamp, stamps, started

HOUR = timedelta(hours=1)
WAITING = (
    "SELECT count(*) FROM pg_locks"
    " WHERE NOT granted AND pg_backend_pid() = ANY(pg_blocking_pids(pid))"
)
TAKE_TURN = (
    "INSERT INTO allowances (allowance_key, made_up_at) VALUES ($1, 0)"
    " ON CONFLICT (allowance_key) DO UPDATE SET made_up_at = 0"
)
COLUMNS = "agent, requester, status, head_seq, head_hash, fence, started_at, updated_at, format"
START_LIKE_IT = (
    f"INSERT INTO runs (run_id, session, {COLUMNS})"
    f" SELECT 'run_other', 's_other', {COLUMNS} FROM runs WHERE run_id = 'run_1'"
)
TWO = StartsLimit(2, HOUR)


async def start(
    store: SqlStore,
    clock: ManualClock,
    name: str,
    *,
    key: str | None = None,
    agent: str = "refunds",
    requester: str = ALICE,
    limit: StartsLimit | None = TWO,
) -> RunId:
    first = stamp(clock, started(f"s_{name}", agent=agent, requester=requester))
    return await store.journal.start(RunId(f"run_{name}"), first, key=key, limit=limit)


async def test_the_hour_rolls_and_says_when_it_is_free_again(
    store: SqlStore, clock: ManualClock
) -> None:
    began = clock.now()
    await start(store, clock, "1")
    clock.move(timedelta(minutes=20))
    await start(store, clock, "2")
    with pytest.raises(TooManyStarts) as refused:
        await start(store, clock, "3")
    error = refused.value
    assert (error.requester, error.agent, error.most) == (ALICE, "refunds", 2)
    assert error.free_at == began + HOUR
    clock.move(timedelta(minutes=40) - timedelta(microseconds=1))
    with pytest.raises(TooManyStarts):
        await start(store, clock, "3")
    clock.move(timedelta(microseconds=1))
    await start(store, clock, "3")
    with pytest.raises(TooManyStarts) as refused:
        await start(store, clock, "4")
    assert refused.value.free_at == began + timedelta(minutes=80)


async def test_each_principal_and_each_agent_is_counted_by_itself(
    store: SqlStore, clock: ManualClock
) -> None:
    one = StartsLimit(1, HOUR)
    await start(store, clock, "1", limit=one)
    await start(store, clock, "2", limit=one, requester=BOB)
    await start(store, clock, "3", limit=one, agent="deploys")
    with pytest.raises(TooManyStarts):
        await start(store, clock, "4", limit=one)
    await start(store, clock, "4", limit=None)


async def test_the_same_start_again_counts_once_and_is_found_when_nothing_is_left(
    store: SqlStore, clock: ManualClock
) -> None:
    for _ in range(3):
        assert await start(store, clock, "1", key="k") == "run_1"
    await start(store, clock, "2")
    assert await start(store, clock, "again", key="k") == "run_1"


async def test_a_run_counts_also_when_it_has_ended(store: SqlStore, clock: ManualClock) -> None:
    one = StartsLimit(1, HOUR)
    run_id = await start(store, clock, "1", limit=one)
    await store.journal.intend(run_id, stamps(clock, RunFinished(answer="done")), expected_seq=1)
    with pytest.raises(TooManyStarts):
        await start(store, clock, "2", limit=one)


async def test_a_session_that_is_busy_is_said_first(store: SqlStore, clock: ManualClock) -> None:
    """Then what was said can be told to its run, which takes no start."""
    one = StartsLimit(1, HOUR)
    await start(store, clock, "1", limit=one)
    with pytest.raises(SessionBusy):
        await start(store, clock, "1", limit=one)


async def test_what_a_clock_stamped_that_was_set_back_since_does_not_count(
    store: SqlStore, clock: ManualClock
) -> None:
    one = StartsLimit(1, HOUR)
    await start(store, clock, "1", limit=one)
    clock.move(-timedelta(days=1))
    await start(store, clock, "2", limit=one)
    with pytest.raises(TooManyStarts):
        await start(store, clock, "3", limit=one)


async def test_processes_that_start_at_once_never_exceed_it_together(
    store: SqlStore, open_another: OpenAnother, clock: ManualClock
) -> None:
    stores, limit = [store, await open_another()], StartsLimit(3, HOUR)
    outcomes = await asyncio.gather(
        *(start(stores[n % 2], clock, str(n), limit=limit, key=f"k{n % 6}") for n in range(12)),
        return_exceptions=True,
    )
    assert {type(one) for one in outcomes} <= {str, TooManyStarts}
    begun = {one for one in outcomes if isinstance(one, str)}
    assert len(begun) == len(await store.lists.runs(limit=20)) == 3


@pytest.fixture
async def somebody(url: str) -> AsyncIterator[asyncpg.Connection]:
    connection = await asyncpg.connect(url)
    yield connection
    await connection.close()


@on_postgres
@pytest.mark.parametrize("is_first", [True, False])
async def test_a_start_waits_for_another_of_the_same_principal_that_is_not_committed(
    store: SqlStore, clock: ManualClock, somebody: asyncpg.Connection, is_first: bool
) -> None:
    await start(store, clock, "1", limit=None if is_first else TWO)
    async with asyncio.timeout(20), somebody.transaction():
        await somebody.execute(TAKE_TURN, f"starts refunds {ALICE}")
        await somebody.execute(START_LIKE_IT)
        mine = asyncio.create_task(start(store, clock, "2"))
        while not mine.done() and not await somebody.fetchval(WAITING):
            pass
    with pytest.raises(TooManyStarts):
        await mine
