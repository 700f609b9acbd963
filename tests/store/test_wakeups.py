from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from store import SqlStore
from tests.store.clock import ManualClock
from tests.store.conftest import OpenAnother
from tests.store.story import begin, replied, stamps

LONG = 20
TERM = timedelta(seconds=30)


async def test_an_append_through_another_handle_wakes_who_waits(
    store: SqlStore, open_another: OpenAnother, clock: ManualClock
) -> None:
    other = await open_another()
    moves = store.wakeups.moves
    waiting = [asyncio.create_task(store.wakeups.wait(moves, LONG)) for _ in range(5)]
    await begin(other.journal, clock)
    async with asyncio.timeout(5):
        await asyncio.gather(*waiting)
    assert store.wakeups.moves > moves


async def test_an_append_of_this_process_wakes_at_once(store: SqlStore, clock: ManualClock) -> None:
    run_id = await begin(store.journal, clock)
    moves = store.wakeups.moves
    waiting = asyncio.create_task(store.wakeups.wait(moves, LONG))
    await store.journal.intend(run_id, stamps(clock, replied()), expected_seq=1)
    async with asyncio.timeout(5):
        await waiting


async def test_what_moved_before_the_wait_is_not_lost(
    store: SqlStore, open_another: OpenAnother, clock: ManualClock
) -> None:
    other = await open_another()
    moves = store.wakeups.moves
    await begin(other.journal, clock)
    async with asyncio.timeout(5):
        await store.wakeups.wait(moves, LONG)


async def test_a_wait_ends_at_its_timeout(store: SqlStore) -> None:
    moves = store.wakeups.moves
    async with asyncio.timeout(5):
        await store.wakeups.wait(moves, 0.05)
        await store.wakeups.wait(moves, 0)
    assert store.wakeups.moves == moves


async def test_a_claim_that_finds_nothing_moves_nothing(store: SqlStore) -> None:
    """Else a worker's look for work would wake all workers, for ever."""
    moves = store.wakeups.moves
    assert await store.run_leases.claim("p1", TERM, 1) == []
    assert store.wakeups.moves == moves


async def test_a_cancelled_wait_leaves_the_others_waiting(
    store: SqlStore, open_another: OpenAnother, clock: ManualClock
) -> None:
    other = await open_another()
    moves = store.wakeups.moves
    first, second = (asyncio.create_task(store.wakeups.wait(moves, LONG)) for _ in range(2))
    await asyncio.sleep(0)
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    await begin(other.journal, clock)
    async with asyncio.timeout(5):
        await second


async def test_closing_lets_go_of_who_waits(store: SqlStore) -> None:
    waiting = asyncio.create_task(store.wakeups.wait(store.wakeups.moves, LONG))
    await asyncio.sleep(0)
    await store.close()
    async with asyncio.timeout(5):
        await waiting
