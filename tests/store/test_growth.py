"""What a file takes up on its disk."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import timedelta

from agent.rules.events import RunFinished
from agent.rules.interventions import MessageReceived
from store import SqlStore
from store.sqlite import LARGEST_LOG
from tests.store.clock import ManualClock
from tests.store.conftest import on_sqlite
from tests.store.database import path_of
from tests.store.story import BOB, begin, stamps
from tests.store.test_purging import ALL, sweep

LONG = 2_000_000


async def sizes(store: SqlStore) -> tuple[int, int, int]:
    found = (await store.purges.sizes(ALL)).bytes
    return found["database"], found["free"], found["log"]


@on_sqlite
async def test_a_log_that_grew_while_somebody_read_is_cut_back(
    store: SqlStore, clock: ManualClock, url: str
) -> None:
    run_id = await begin(store.journal, clock)
    seq = 1

    async def say(length: int) -> None:
        nonlocal seq
        words = MessageReceived(by=BOB, text="x" * length)
        await store.journal.intend(run_id, stamps(clock, words), expected_seq=seq)
        seq += 1

    with closing(sqlite3.connect(path_of(url))) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM runs").fetchall()
        while (await sizes(store))[2] <= LARGEST_LOG:
            await say(LONG)
    # The first to write once nobody reads fills it into the file, and the next begins it anew.
    for _ in range(3):
        await say(1)
    assert (await sizes(store))[2] <= LARGEST_LOG


@on_sqlite
async def test_what_was_removed_is_filled_again_before_the_file_grows(
    store: SqlStore, clock: ManualClock
) -> None:
    async def fill(run_id: str) -> None:
        begun = await begin(store.journal, clock, run_id)
        words = [MessageReceived(by=BOB, text="x" * 100_000) for _ in range(20)]
        events = stamps(clock, *words, RunFinished(answer=""))
        await store.journal.intend(begun, events, expected_seq=1)

    await fill("run_1")
    before, _, _ = await sizes(store)
    clock.move(timedelta(days=90))
    assert (await sweep(store)).removed == {"transcripts": 1}
    after, free, _ = await sizes(store)
    assert after == before
    assert free > 1_900_000
    await fill("run_2")
    again, left, _ = await sizes(store)
    assert again - after < 200_000
    assert left < 200_000
