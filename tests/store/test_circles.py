"""Processes that write the rows of many runs at once do not wait for each other in a circle."""

from __future__ import annotations

import asyncio
import random
from contextlib import suppress
from datetime import timedelta
from itertools import count

import pytest
from sqlalchemy import make_url

from agent.errors import LeaseLost, SeqConflict
from agent.ports import Lease, Process, ThreadMessage
from agent.rules.ids import RunId
from store import SqlStore
from tests.store.clock import ManualClock
from tests.store.conftest import OpenAnother, on_postgres
from tests.store.database import ask
from tests.store.story import begin, replied, returned, stamp, stamps, started

pytestmark = on_postgres

TERM = timedelta(hours=1)
RUNS, HANDLES, ROUNDS = 12, 4, 25


@pytest.fixture
async def handles(open_another: OpenAnother, url: str) -> list[SqlStore]:
    """As several processes have them, each with a writer of its own. The server looks for circles before
    anybody gives up waiting."""
    database = make_url(url).database
    ask(url, f"ALTER DATABASE {database} SET deadlock_timeout = '10ms'")
    return [await open_another(listens=False) for _ in range(HANDLES)]


async def circles(url: str, stores: list[SqlStore]) -> int:
    """How often the server had to end one. It counts a connection's when that has ended."""
    for store in stores:
        await store.close()
    connected = (
        "SELECT count(*) FROM pg_stat_activity"
        " WHERE datname = current_database() AND application_name = 'pilothouse'"
    )
    async with asyncio.timeout(20):
        while await asyncio.to_thread(ask, url, connected) != [(0,)]:
            pass
    return int(
        ask(url, "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()")[0][0]
    )


async def write_to(store: SqlStore, clock: ManualClock, run_id: RunId) -> None:
    """As people do who write to a run: behind whatever is there."""
    while True:
        row = await store.lists.run(run_id)
        assert row is not None
        with suppress(SeqConflict):
            await store.journal.intend(run_id, stamps(clock, replied()), expected_seq=row.head_seq)
            return


async def record(store: SqlStore, clock: ManualClock, lease: Lease) -> None:
    with suppress(LeaseLost):
        await store.journal.record(lease.run_id, stamps(clock, returned("c")), fence=lease.fence)


async def work_in_all_ways(
    store: SqlStore, clock: ManualClock, name: str, runs: list[RunId]
) -> None:
    """One process: it claims, renews, appends and draws, all at the same time."""
    chance = random.Random(name)
    await store.processes.join(Process(name, "test", ("refunds",), True, True))
    for n in range(ROUNDS):
        held = await store.run_leases.claim(name, TERM, RUNS // 2)
        drawn = await store.thread_leases.claim(name, TERM, RUNS // 2)
        written = chance.sample(runs, len(runs))
        works = [
            *(write_to(store, clock, run_id) for run_id in written[: RUNS // 3]),
            *(record(store, clock, lease) for lease in held),
            store.run_leases.renew(name, held, TERM),
            store.thread_leases.renew(name, drawn, TERM),
            *(store.threads.doubt(run_id, "status") for run_id in written[:3]),
            *(save(store, clock, lease) for lease in drawn),
            store.processes.beat(name),
        ]
        chance.shuffle(works)
        await asyncio.gather(*works)
        if n % 10 == 9:
            # All that it held is due again, at once.
            await store.processes.leave(name)
            await store.processes.join(Process(name, "test", ("refunds",), True, True))
        for lease in held:
            await store.run_leases.defer(lease, until=clock.now())
        for lease in drawn:
            await store.thread_leases.defer(lease, until=clock.now())


async def save(store: SqlStore, clock: ManualClock, lease: Lease) -> None:
    with suppress(LeaseLost):
        message = ThreadMessage("status", "posted", "C1:1.1", "d", clock.now())
        await store.threads.save(lease, message)


async def test_of_appends_renewals_claims_and_deaths(
    handles: list[SqlStore], clock: ManualClock, url: str
) -> None:
    runs = [
        await begin(handles[0].journal, clock, f"run_{n:02}", place=f"C1:{n}") for n in range(RUNS)
    ]
    async with asyncio.TaskGroup() as tasks:
        for n, store in enumerate(handles):
            tasks.create_task(work_in_all_ways(store, clock, f"p{n}", runs))
    journals = [await handles[0].journal.read(run_id) for run_id in runs]
    assert await circles(url, handles) == 0
    assert all([one.seq for one in read] == list(range(1, len(read) + 1)) for read in journals)


async def test_of_starts_that_come_twice(
    handles: list[SqlStore], clock: ManualClock, url: str
) -> None:
    """Each delivery reaches two processes, in no order."""
    chance = random.Random(1)
    numbers = count(1)

    async def deliver(store: SqlStore, key: str) -> RunId:
        start = stamp(clock, started(f"s_{key}"))
        return await store.journal.start(RunId(f"run_{next(numbers)}"), start, key=key)

    for n in range(ROUNDS):
        keys = [f"k_{n}_{m}" for m in range(6)]
        deliveries = [deliver(store, key) for store in handles for key in chance.sample(keys, 6)]
        assert len(set(await asyncio.gather(*deliveries))) == len(keys)
    assert await circles(url, handles) == 0
