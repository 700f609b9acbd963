"""A row that somebody keeps locked keeps nobody waiting but who wants it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from datetime import timedelta

import asyncpg
import pytest

from agent.engine.guard import LeaseGuard
from agent.engine.holding import LeaseLoop
from agent.errors import StoreUnavailable
from agent.ports import Lease, Process, Renewal
from agent.rules.ids import RunId
from agent.rules.recorded import Recorded
from store import SqlStore
from store.clock import GivenClock
from store.lease_tables import RUNS
from store.leases import SqlLeases
from tests.store.clock import ManualClock
from tests.store.conftest import OpenAnother, on_postgres
from tests.store.story import begin, returned, stamp, stamps, started

pytestmark = on_postgres

TERM = timedelta(hours=1)
LONG = 20
LOCK = "SELECT FROM runs WHERE run_id = ANY($1) FOR UPDATE"
WAITING = (
    "SELECT count(*) FROM pg_locks"
    " WHERE NOT granted AND pg_backend_pid() = ANY(pg_blocking_pids(pid))"
)


@pytest.fixture
async def store(open_another: OpenAnother) -> SqlStore:
    """More patient than its test."""
    return await open_another(patience=timedelta(seconds=5 * LONG))


@pytest.fixture
async def somebody(url: str) -> AsyncIterator[asyncpg.Connection]:
    connection = await asyncpg.connect(url)
    yield connection
    await connection.close()


@asynccontextmanager
async def keeping(somebody: asyncpg.Connection, *run_ids: str) -> AsyncIterator[None]:
    async with somebody.transaction():
        await somebody.execute(LOCK, list(run_ids))
        yield


async def until_somebody_waits(somebody: asyncpg.Connection) -> None:
    async with asyncio.timeout(LONG):
        while not await somebody.fetchval(WAITING):
            pass


async def claim(store: SqlStore, clock: ManualClock, number: int) -> dict[str, Lease]:
    for n in range(number):
        await begin(store.journal, clock, f"run_{n}")
    held = await store.run_leases.claim("p1", TERM, number)
    return {lease.run_id: lease for lease in held}


async def record(store: SqlStore, clock: ManualClock, lease: Lease, call: str) -> list[Recorded]:
    events = stamps(clock, returned(call))
    return await store.journal.record(lease.run_id, events, fence=lease.fence)


async def test_what_is_free_is_written_meanwhile(
    store: SqlStore, clock: ManualClock, somebody: asyncpg.Connection
) -> None:
    held = await claim(store, clock, 6)
    async with keeping(somebody, "run_1", "run_2"):
        locked = [
            asyncio.create_task(record(store, clock, held[one], "c")) for one in ("run_1", "run_2")
        ]
        async with asyncio.timeout(LONG):
            free = [record(store, clock, held[f"run_{n}"], "c") for n in (0, 3, 4, 5)]
            await asyncio.gather(*free)
            await until_somebody_waits(somebody)
            renewed = await store.run_leases.renew("p1", [held["run_5"]], TERM)
            await begin(store.journal, clock, "run_6")
        assert len(renewed.extended) == 1
        assert not any(task.done() for task in locked)
    async with asyncio.timeout(LONG):
        assert [one.seq for (one,) in await asyncio.gather(*locked)] == [2, 2]


async def test_works_on_one_run_stay_in_their_order(
    store: SqlStore, clock: ManualClock, somebody: asyncpg.Connection
) -> None:
    lease = (await claim(store, clock, 1))["run_0"]
    async with keeping(somebody, "run_0"):
        works = [asyncio.create_task(record(store, clock, lease, "first"))]
        await until_somebody_waits(somebody)
        works += [asyncio.create_task(record(store, clock, lease, f"{n}")) for n in range(5)]
        await begin(store.journal, clock, "run_1")
    async with asyncio.timeout(LONG):
        assert [one.seq for (one,) in await asyncio.gather(*works)] == [2, 3, 4, 5, 6, 7]


async def test_what_nobody_waits_for_any_more_is_not_done_later(
    store: SqlStore, clock: ManualClock, somebody: asyncpg.Connection
) -> None:
    lease = (await claim(store, clock, 1))["run_0"]
    async with keeping(somebody, "run_0"):
        given_up = asyncio.create_task(record(store, clock, lease, "c"))
        await until_somebody_waits(somebody)
        given_up.cancel()
        # Once that has been asked for and answered, the one that was given up is out of line.
        for n in (1, 2):
            await begin(store.journal, clock, f"run_{n}")
    await record(store, clock, lease, "another")
    assert len(await store.journal.read(RunId("run_0"))) == 2


async def test_who_is_told_that_it_can_not_be_is_told_in_time_however_many_wait(
    open_another: OpenAnother, clock: ManualClock, somebody: asyncpg.Connection
) -> None:
    store = await open_another(patience=timedelta(seconds=0.5))
    held = await claim(store, clock, 40)
    async with keeping(somebody, *held):
        works = [record(store, clock, lease, "c") for lease in held.values()]
        async with asyncio.timeout(LONG / 2):
            outcomes = await asyncio.gather(*works, return_exceptions=True)
    assert {type(one) for one in outcomes} == {StoreUnavailable}


async def test_a_renewal_waits_for_nobody(
    store: SqlStore, clock: ManualClock, somebody: asyncpg.Connection
) -> None:
    held = await claim(store, clock, 3)
    clock.move(TERM / 2)
    async with keeping(somebody, "run_1"):
        async with asyncio.timeout(LONG):
            renewal = await store.run_leases.renew("p1", held.values(), TERM)
    assert {lease.run_id for lease in renewal.extended} == {"run_0", "run_2"}
    assert renewal.busy == {"run_1"}
    renewal = await store.run_leases.renew("p1", held.values(), TERM)
    assert {lease.run_id for lease in renewal.extended} == {"run_0", "run_1", "run_2"}
    assert not renewal.busy


async def test_a_lease_that_is_lost_is_not_busy(store: SqlStore, clock: ManualClock) -> None:
    held = await claim(store, clock, 1)
    clock.move(TERM)
    await store.run_leases.claim("p2", TERM, 1)
    assert await store.run_leases.renew("p1", held.values(), TERM) == Renewal()


class Watched(SqlLeases):
    """It tells when a lease was busy."""

    def __init__(self, store: SqlStore, clock: ManualClock) -> None:
        super().__init__(RUNS, store._database.writer, GivenClock(clock))
        self.was_busy = asyncio.Event()

    async def renew(self, holder: str, leases: Collection[Lease], term: timedelta) -> Renewal:
        renewal = await super().renew(holder, leases, term)
        if renewal.busy:
            self.was_busy.set()
        return renewal


async def test_a_lease_whose_row_is_locked_for_a_moment_is_kept(
    store: SqlStore, clock: ManualClock, somebody: asyncpg.Connection
) -> None:
    await begin(store.journal, clock)
    held: asyncio.Queue[LeaseGuard] = asyncio.Queue()
    may_end = asyncio.Event()

    async def work(guard: LeaseGuard, stopping: asyncio.Event) -> None:
        held.put_nowait(guard)
        await may_end.wait()

    leases = Watched(store, clock)
    term = timedelta(seconds=3)
    loop = LeaseLoop(leases, store.wakeups, work, holder="p1", term=term, concurrency=1)
    running = asyncio.create_task(loop.run())
    async with asyncio.timeout(LONG):
        guard = await held.get()
        async with keeping(somebody, "run_1"):
            await leases.was_busy.wait()
            assert not guard.lost.is_set()
        await guard.renewed()
    assert not guard.lost.is_set()
    may_end.set()
    await loop.stop(drain=TERM)
    await running


async def test_who_leaves_takes_its_own_row_first_as_those_do_who_bury_it(
    store: SqlStore, clock: ManualClock, somebody: asyncpg.Connection
) -> None:
    await store.processes.join(Process("p1", "test", (), True, False))
    await claim(store, clock, 1)
    async with somebody.transaction():
        await somebody.execute("SELECT FROM processes FOR UPDATE")
        leaving = asyncio.create_task(store.processes.leave("p1"))
        await until_somebody_waits(somebody)
        await somebody.execute("SELECT FROM runs FOR UPDATE NOWAIT")
    await leaving


async def test_two_starts_do_not_have_each_what_the_other_waits_for(
    store: SqlStore, clock: ManualClock, somebody: asyncpg.Connection
) -> None:
    """The keys are taken in their order, and the sessions cross."""
    await claim(store, clock, 1)

    def start(run_id: str, key: str, session: str) -> asyncio.Task[RunId]:
        event = stamp(clock, started(session))
        return asyncio.create_task(store.journal.start(RunId(run_id), event, key=key))

    insert = (
        "INSERT INTO runs (run_id, agent, session, requester, key, status, head_seq, head_hash,"
        " wake_at, fence, started_at, updated_at, format)"
        " VALUES ('run_other', 'refunds', $1, 'alice', NULL, 'active', 1, '', 0, 0, 0, 0, 1)"
    )
    transaction = somebody.transaction()
    await transaction.start()
    await somebody.execute(insert, "s_2")
    starts = [start("run_1", "a", "s_1"), start("run_2", "b", "s_2")]
    await until_somebody_waits(somebody)
    await somebody.execute("SET LOCAL lock_timeout = '5s'")
    with pytest.raises(asyncpg.UniqueViolationError):
        await somebody.execute(insert.replace("run_other", "run_third"), "s_1")
    await transaction.rollback()
    async with asyncio.timeout(LONG):
        assert await asyncio.gather(*starts) == ["run_1", "run_2"]


async def test_works_of_one_run_asked_for_at_once_keep_their_order_when_it_comes_free(
    store: SqlStore, clock: ManualClock, somebody: asyncpg.Connection
) -> None:
    """Whenever that is: also in the middle of a group of which some have found it locked."""
    (lease,) = (await claim(store, clock, 1)).values()
    calls = [f"call_{n}" for n in range(40)]
    for seconds in (0.2, 0.25, 0.3):
        async with keeping(somebody, lease.run_id), asyncio.TaskGroup() as tasks:
            asked = [
                tasks.create_task(record(store, clock, lease, f"{one}_{seconds}")) for one in calls
            ]
            await until_somebody_waits(somebody)
            await somebody.execute("SELECT pg_sleep($1)", seconds)
            await somebody.execute("COMMIT")
            await somebody.execute("BEGIN")
        seqs = [one.result()[0].seq for one in asked]
        assert seqs == sorted(seqs)
