"""Who is told of what: others, when something is due at once or moves under a lease of theirs."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import timedelta
from pathlib import Path

import asyncpg
import pytest

from agent.ports import Lease, Process, ThreadMessage
from agent.rules.ids import RunId
from store import SqlStore
from store.datagrams import HOST
from store.life_locks import LifeLocks
from store.listening import CHANNEL
from store.sqlite import folder_beside
from tests.store.clock import ManualClock
from tests.store.conftest import OpenAnother
from tests.store.database import is_file, path_of
from tests.store.story import begin, decided, replied, requested, returned, stamps
from tests.store.waiting import until

TERM = timedelta(seconds=30)
Words = Callable[[], Awaitable[int]]


def listeners_of(url: str) -> LifeLocks:
    return LifeLocks(folder_beside(Path(path_of(url))) / "listeners")


async def datagrams(url: str) -> AsyncIterator[Words]:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as hearing:
        hearing.bind((HOST, 0))
        hearing.setblocking(False)
        lock = listeners_of(url).take(str(hearing.getsockname()[1]))
        assert lock is not None

        async def count() -> int:
            number = 0
            while True:
                try:
                    hearing.recv(1)
                except BlockingIOError:
                    return number
                number += 1

        yield count
        lock.release()


async def notifications(url: str) -> AsyncIterator[Words]:
    heard: list[object] = []
    connection = await asyncpg.connect(url)
    await connection.add_listener(CHANNEL, lambda *_: heard.append(None))

    async def count() -> int:
        # What was committed before this question is told before its answer.
        await connection.fetchval("SELECT 1")
        number = len(heard)
        heard.clear()
        return number

    yield count
    await connection.close()


@pytest.fixture
async def words(url: str) -> AsyncIterator[Words]:
    """How many words there were since one asked last."""
    async for count in datagrams(url) if is_file(url) else notifications(url):
        yield count


async def claim(store: SqlStore, holder: str = "p1") -> Lease:
    (lease,) = await store.run_leases.claim(holder, TERM, 1)
    return lease


async def draw(store: SqlStore, holder: str = "p1") -> Lease:
    (lease,) = await store.thread_leases.claim(holder, TERM, 1)
    return lease


async def join(store: SqlStore, *, draws: bool) -> None:
    await store.processes.join(Process("p1", "test", ("refunds",), True, draws))


async def record(store: SqlStore, clock: ManualClock, lease: Lease) -> None:
    await store.journal.record(lease.run_id, stamps(clock, returned("c")), fence=lease.fence)


async def test_a_start_and_whatever_comes_from_outside(
    store: SqlStore, clock: ManualClock, words: Words
) -> None:
    run_id = await begin(store.journal, clock)
    assert await words() == 1
    lease = await claim(store)
    asked = stamps(clock, replied("call_1"), requested("apr_1", "call_1"))
    await store.journal.intend(run_id, asked, expected_seq=1, fence=lease.fence)
    assert await store.run_leases.suspend(lease, seen_seq=3, until=None)
    assert await words() == 0
    await store.journal.intend(run_id, stamps(clock, decided("apr_1")), expected_seq=3)
    assert await words() == 1


async def test_what_others_send_to_a_run_while_it_is_held(
    store: SqlStore, clock: ManualClock, words: Words
) -> None:
    run_id = await begin(store.journal, clock)
    await claim(store)
    await words()
    await store.journal.intend(run_id, stamps(clock, replied()), expected_seq=1)
    assert await words() == 1


async def test_nothing_that_a_holder_does_by_itself(
    store: SqlStore, clock: ManualClock, words: Words
) -> None:
    await begin(store.journal, clock, place="C1:1")
    await words()
    lease, thread = await claim(store), await draw(store)
    await record(store, clock, lease)
    assert await store.thread_leases.suspend(thread, seen_seq=2, until=None)
    await store.run_leases.renew("p1", [lease], TERM)
    await store.run_leases.defer(lease, until=clock.now() + TERM)
    assert await words() == 0


async def test_nothing_of_a_thread_that_the_holder_of_its_run_can_draw(
    store: SqlStore, clock: ManualClock, words: Words
) -> None:
    await begin(store.journal, clock, place="C1:1")
    await join(store, draws=True)
    lease = await claim(store)
    await words()
    await record(store, clock, lease)
    assert await words() == 0


async def test_that_a_thread_is_behind_which_the_holder_of_its_run_does_not_draw(
    store: SqlStore, clock: ManualClock, words: Words
) -> None:
    await begin(store.journal, clock, place="C1:1")
    await join(store, draws=False)
    lease = await claim(store)
    await words()
    await record(store, clock, lease)
    assert await words() == 1


async def test_nothing_of_a_run_without_a_thread(
    store: SqlStore, clock: ManualClock, words: Words
) -> None:
    await begin(store.journal, clock)
    await join(store, draws=False)
    lease = await claim(store)
    await words()
    await record(store, clock, lease)
    assert await words() == 0


async def test_that_a_thread_which_another_process_draws_is_behind(
    store: SqlStore, clock: ManualClock, words: Words
) -> None:
    await begin(store.journal, clock, place="C1:1")
    await join(store, draws=True)
    lease = await claim(store)
    await draw(store, "p2")
    await words()
    await record(store, clock, lease)
    assert await words() == 1


async def test_that_a_holder_comes_too_late(
    store: SqlStore, clock: ManualClock, words: Words
) -> None:
    """Its run is due for everybody."""
    await begin(store.journal, clock)
    lease = await claim(store)
    await words()
    clock.move(TERM)
    await record(store, clock, lease)
    assert await words() == 1


async def test_that_a_run_is_let_go_for_at_once(
    store: SqlStore, clock: ManualClock, words: Words
) -> None:
    run_id = await begin(store.journal, clock)
    await words()
    await store.run_leases.defer(await claim(store), until=clock.now())
    assert await words() == 1
    lease = await claim(store)
    await store.journal.intend(run_id, stamps(clock, replied()), expected_seq=1)
    await words()
    await store.run_leases.defer(lease, until=clock.now() + TERM, seen_seq=1)
    assert await words() == 1
    assert await store.run_leases.suspend(await claim(store), seen_seq=2, until=clock.now())
    assert await words() == 1


async def test_that_a_message_is_doubted(store: SqlStore, clock: ManualClock, words: Words) -> None:
    run_id = await begin(store.journal, clock, place="C1:1")
    thread = await draw(store)
    await store.threads.save(thread, ThreadMessage("status", "posted", "C1:1.1", "d", clock.now()))
    await words()
    await store.threads.doubt(run_id, "none")
    assert await words() == 0
    await store.threads.doubt(run_id, "status")
    assert await words() == 1
    assert await store.thread_leases.suspend(thread, seen_seq=1, until=None)
    assert await words() == 1


@pytest.mark.usefixtures("quick_deaths")
async def test_that_a_dead_process_left_something(
    store: SqlStore, open_another: OpenAnother, clock: ManualClock, words: Words
) -> None:
    await begin(store.journal, clock)
    dead = await open_another()
    await dead.processes.join(Process("p1", "test", (), True, False))
    await claim(dead)
    await dead.close()
    await words()
    assert await until(store.processes.bury_dead) == ["p1"]
    assert await words() == 1


async def test_nothing_of_what_failed(store: SqlStore, clock: ManualClock, words: Words) -> None:
    run_id = await begin(store.journal, clock)
    await words()
    with pytest.raises(Exception, match="journal"):
        await store.journal.intend(run_id, stamps(clock, replied()), expected_seq=7)
    assert await store.run_leases.claim("p1", TERM, 0) == []
    assert await words() == 0


async def test_once_for_all_that_is_committed_together(
    store: SqlStore, clock: ManualClock, words: Words
) -> None:
    runs = [await begin(store.journal, clock, f"run_{n}") for n in range(20)]
    await words()
    async with asyncio.TaskGroup() as tasks:
        for run_id in runs:
            events = stamps(clock, replied())
            tasks.create_task(store.journal.intend(run_id, events, expected_seq=1))
    assert await words() <= 3


async def test_what_is_let_go_for_a_time_that_is_past_is_behind_all_that_waits(
    store: SqlStore, clock: ManualClock
) -> None:
    past = clock.now()
    await begin(store.journal, clock, "run_a", place="C1:1")
    both = store.run_leases, store.thread_leases
    claimed = [(await leases.claim("p1", TERM, 1))[0] for leases in both]
    await begin(store.journal, clock, "run_b", place="C1:2")
    clock.move(timedelta(seconds=1))
    for leases, lease in zip(both, claimed, strict=True):
        await leases.defer(lease, until=past)
        (first,) = await leases.claim("p1", TERM, 1)
        (second,) = await leases.claim("p1", TERM, 1)
        assert [first.run_id, second.run_id] == ["run_b", "run_a"]
        await leases.defer(first, until=clock.now())
        clock.move(timedelta(seconds=1))
        assert await leases.suspend(second, seen_seq=1, until=past)
        assert [(await leases.claim("p1", TERM, 1))[0].run_id] == ["run_b"]


async def test_a_run_that_people_keep_writing_to_keeps_its_place(
    store: SqlStore, clock: ManualClock
) -> None:
    patient, other = (
        await begin(store.journal, clock, "run_patient", place="C1:1"),
        RunId("run_other"),
    )
    clock.move(timedelta(seconds=1))
    await begin(store.journal, clock, "run_other", place="C1:2")
    for seq in range(1, 4):
        clock.move(timedelta(seconds=1))
        await store.journal.intend(patient, stamps(clock, replied()), expected_seq=seq)
    for leases in (store.run_leases, store.thread_leases):
        claimed = [(await leases.claim("p1", TERM, 1))[0].run_id for _ in range(2)]
        assert claimed == [patient, other]
