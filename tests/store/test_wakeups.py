from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest

from store import SqlStore
from store.wakeups import SECONDS_BETWEEN_LOOKS
from store.watching import WatchedWakeups
from tests.store.clock import ManualClock
from tests.store.conftest import OpenAnother, on_sqlite
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


@pytest.fixture
def nobody_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    """For as long as the test takes."""
    for looking in ("watching", "asking"):
        monkeypatch.setattr(f"store.{looking}.SECONDS_BETWEEN_LOOKS", 3 * LONG)


@pytest.mark.usefixtures("nobody_looks")
async def test_word_of_an_append_is_enough(
    store: SqlStore, open_another: OpenAnother, clock: ManualClock
) -> None:
    """Also from who does not hear itself, as a command that appends and ends."""
    other = await open_another(listens=False)
    for n in range(20):
        moves = store.wakeups.moves
        waiting = asyncio.create_task(store.wakeups.wait(moves, LONG))
        await asyncio.sleep(0)
        await begin(other.journal, clock, f"run_{n}")
        async with asyncio.timeout(5):
            await waiting
        assert store.wakeups.moves > moves


async def test_who_can_not_hear_of_an_append_finds_it(
    open_another: OpenAnother, clock: ManualClock
) -> None:
    """Also of one that was committed while nobody waited, or that overtook an earlier one."""
    deaf, other = await open_another(listens=False), await open_another()
    for n in range(20):
        moves = deaf.wakeups.moves
        begun = begin(other.journal, clock, f"run_{n}")
        if n % 2:
            await begun
            waiting = asyncio.create_task(deaf.wakeups.wait(moves, LONG))
        else:
            waiting = asyncio.create_task(deaf.wakeups.wait(moves, LONG))
            await begun
        async with asyncio.timeout(5):
            await waiting
        assert deaf.wakeups.moves > moves


@on_sqlite
async def test_who_can_not_hear_finds_nothing_where_nothing_happens(
    open_another: OpenAnother, clock: ManualClock
) -> None:
    """A server's other databases move who asks there; that costs a look for work."""
    deaf, other = await open_another(listens=False), await open_another()
    await begin(other.journal, clock)
    moves = deaf.wakeups.moves
    assert len(await other.lists.runs(limit=5)) == 1
    assert await other.run_leases.claim("p1", TERM, 0) == []
    await deaf.wakeups.wait(moves, 5 * SECONDS_BETWEEN_LOOKS)
    assert deaf.wakeups.moves == moves


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


@pytest.mark.usefixtures("nobody_looks")
async def test_a_file_is_asked_after_an_append_only_while_somebody_waits(tmp_path: Path) -> None:
    asked: list[str] = []
    with (
        closing(sqlite3.connect(tmp_path / "file.db", isolation_level=None)) as writing,
        closing(sqlite3.connect(tmp_path / "file.db", isolation_level=None)) as watching,
    ):
        watching.set_trace_callback(asked.append)
        wakeups = WatchedWakeups(watching, None)
        moves = wakeups.moves
        asked.clear()

        writing.execute("CREATE TABLE one (n INTEGER)")
        wakeups.moved()
        for _ in range(3):
            await asyncio.sleep(0)
        assert asked == []
        async with asyncio.timeout(5):
            await wakeups.wait(moves, LONG)
        moves = wakeups.moves

        waiting = asyncio.create_task(wakeups.wait(moves, LONG))
        await asyncio.sleep(0)
        writing.execute("INSERT INTO one VALUES (1)")
        wakeups.moved()
        async with asyncio.timeout(5):
            await waiting
        assert wakeups.moves > moves
        wakeups.close()
