"""What a run's row says of its removal is what the control journal says, or it is found and put right."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from agent.errors import CorruptJournal, PayloadsRemoved
from agent.mending import mend_all
from agent.ports.purges import Removal
from agent.rules.control import RecordedControl, RunsPurged, StampedControl
from agent.rules.events import RunFinished
from agent.rules.ids import EventId, RunId
from agent.rules.purges import PurgedPart
from agent.verifying import verify
from store import SqlStore, open_store
from store.checking import differences
from store.purge_facts import AT_A_TIME
from store.purge_pieces import PIECE
from store.removing import Transaction
from tests.store.clock import ManualClock
from tests.store.conftest import OpenAnother, on_sqlite
from tests.store.database import ask
from tests.store.outside import in_thread
from tests.store.story import BOB, begin, decided, replied, requested, stamps
from tests.store.test_appends_together import statements
from tests.store.test_purging import ALL, end_run, keeping, sweep

DAY = timedelta(days=1)
WRONG = "run_1: its row does not say how much of it was removed"


def row_of(url: str, run_id: str = "run_1") -> tuple[object, object]:
    ((level, to_seq),) = ask(url, "SELECT purged, purged_to FROM runs WHERE run_id = ?", run_id)
    return level, to_seq


@pytest.mark.parametrize(
    ("days", "damage", "right"),
    [
        (0, "purged = 1", (0, None)),
        (0, "purged = 2", (0, None)),
        (0, "purged = 1, purged_to = 3", (0, None)),
        (0, "purged = 9", (0, None)),
        (40, "purged = 0", (1, None)),
        (40, "purged = 2", (1, None)),
        (40, "purged_to = 4", (1, None)),
        (100, "purged = 1", (2, None)),
    ],
)
async def test_a_row_that_was_changed_is_found_and_put_right(
    store: SqlStore,
    clock: ManualClock,
    url: str,
    days: int,
    damage: str,
    right: tuple[object, object],
) -> None:
    await end_run(store, clock)
    clock.move(days * DAY)
    await sweep(store)
    await end_run(store, clock, "run_2")
    assert await differences(store) == []
    ask(url, f"UPDATE runs SET {damage} WHERE run_id = 'run_1'")
    assert await differences(store) == [WRONG]
    await mend_all(store)
    assert await differences(store) == []
    assert row_of(url) == right
    assert row_of(url, "run_2") == (0, None)


@pytest.mark.parametrize(
    "damage",
    [
        "DELETE FROM control_journal WHERE seq = 2",
        "DELETE FROM control_journal WHERE seq = 1",
        "UPDATE control_journal SET body = replace(body, 'run_1', 'run_0')",
        "UPDATE control_journal SET body = 'x'",
        "UPDATE control_head SET head_seq = 9",
        "UPDATE control_head SET head_hash = 'x'",
        "DELETE FROM control_head",
    ],
)
async def test_nothing_is_put_right_by_a_control_journal_that_was_damaged(
    store: SqlStore, clock: ManualClock, url: str, caplog: pytest.LogCaptureFixture, damage: str
) -> None:
    """Of what it does not tell any more the rows would forget that it was removed. Nor is it read again for ever."""
    for run_id in ("run_1", "run_2"):
        await end_run(store, clock, run_id)
        clock.move(40 * DAY)
        await sweep(store)
    ask(url, damage)
    # So that there is something to be put right in any case.
    ask(url, "UPDATE runs SET purged = 2 WHERE run_id = 'run_2'")
    async with asyncio.timeout(20):
        with pytest.raises(CorruptJournal, match="control"):
            await store.purges.differences()
        await mend_all(store)
    assert "how much of runs was removed can't be mended" in caplog.text
    assert (row_of(url), row_of(url, "run_2")) == ((1, None), (2, None))


async def test_a_run_that_seemed_to_be_removed_takes_words_again(
    store: SqlStore, clock: ManualClock, url: str
) -> None:
    run_id = await begin(store.journal, clock)
    ask(url, "UPDATE runs SET purged = 1")
    more = stamps(clock, replied())
    with pytest.raises(PayloadsRemoved):
        await store.journal.intend(run_id, more, expected_seq=1)
    assert await store.purges.mend(at_sight=True) == [WRONG]
    assert await store.purges.mend() == []
    await store.journal.intend(run_id, more, expected_seq=1)


async def test_a_review_behind_the_end_of_a_run_that_seemed_to_be_removed_can_be_answered(
    store: SqlStore, clock: ManualClock, url: str
) -> None:
    """People are asked what became of an effect, and their card would do nothing."""
    run_id = await begin(store.journal, clock)
    review = requested("apr_1", "call_1", kind="review")
    events = (replied("call_1"), RunFinished(answer=""), review)
    await store.journal.intend(run_id, stamps(clock, *events), expected_seq=1)
    ask(url, "UPDATE runs SET purged = 2")
    settled = stamps(clock, decided("apr_1", "settle", outcome="happened"))
    with pytest.raises(PayloadsRemoved):
        await store.journal.intend(run_id, settled, expected_seq=4)
    assert await store.purges.mend(at_sight=True) == [WRONG]
    await store.journal.intend(run_id, settled, expected_seq=4)


@on_sqlite
async def test_a_bot_that_starts_does_not_read_all_that_was_ever_removed(
    store: SqlStore, clock: ManualClock, url: str
) -> None:
    """It may be a million runs, and people are answered meanwhile."""
    await end_run(store, clock)
    await end_run(store, clock, "run_2")
    clock.move(40 * DAY)
    await sweep(store)
    with statements() as of_two:
        await mend_all(store, at_sight=True)
    parts = [part for fact in await store.control.read() for part in parts_of(fact)]
    pages = 3
    for page in range(pages):
        facts = [
            StampedControl(
                EventId(f"evt_{page}_{n}"), clock.now(), RunsPurged(by=BOB, parts=tuple(parts))
            )
            for n in range(AT_A_TIME)
        ]
        await store.control.record(facts)
    with statements() as of_many:
        await mend_all(store, at_sight=True)
    assert len(of_many) == len(of_two)
    with statements() as of_all:
        await mend_all(store)
    assert len(of_all) >= len(of_many) + pages


def parts_of(fact: RecordedControl) -> tuple[PurgedPart, ...]:
    return fact.event.parts if isinstance(fact.event, RunsPurged) else ()


async def test_one_that_was_begun_is_gone_on_with_from_where_it_was(
    store: SqlStore, clock: ManualClock, url: str
) -> None:
    run_id = await begin(store.journal, clock)
    events = [replied(text="a word") for _ in range(PIECE + 20)]
    await store.journal.intend(
        run_id, stamps(clock, *events, RunFinished(answer="")), expected_seq=1
    )
    clock.move(40 * DAY)
    head = PIECE + 22
    pieces = await store.purges._pieces([Removal(run_id, head, "payloads", "by hand")])
    first = pieces[:1]
    begun = Transaction(first, BOB, store.purges._clock, store.purges._keys)
    assert await store.purges._writer.run(begun) == first
    assert await store.purges._writer.run(begun) == first, "the same, once more: it counts"
    assert row_of(url) == (1, PIECE)
    assert await store.purges.differences() == []
    ask(url, "UPDATE runs SET purged = 0, purged_to = NULL")
    assert await store.purges.differences() == [WRONG]
    assert await store.purges.mend() == [WRONG]
    assert row_of(url) == (1, PIECE)
    assert dict((await sweep(store)).removed) == {"payloads": 1}
    assert (await verify(store.verifier)).is_whole
    assert await differences(store) == []


async def test_what_is_going_altogether_is_no_difference(
    store: SqlStore, clock: ManualClock, url: str
) -> None:
    await end_run(store, clock)
    clock.move(800 * DAY)
    await sweep(store, keeping(payloads=30))
    await sweep(store, ALL)
    assert await differences(store) == []
    assert ask(url, "SELECT run_id FROM tombstones") == [("run_1",)]


@on_sqlite
async def test_what_is_removed_while_it_is_compared_is_no_difference(
    store: SqlStore,
    open_another: OpenAnother,
    clock: ManualClock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its page of facts was read, and then another removed something and moved its row."""
    for number in range(3):
        await end_run(store, clock, f"run_{number}")
    clock.move(40 * DAY)
    other = await open_another()
    rows = store.purges._in_rows
    follow, left = rows._follow, ["one"]

    async def follow_and_fall_behind(told: Any) -> None:
        await follow(told)
        if left:
            left.pop()
            assert (await sweep(other)).removed["payloads"] == 3

    monkeypatch.setattr(rows, "_follow", follow_and_fall_behind)
    assert await store.purges.differences() == []
    assert not left
    assert await store.purges.purged(RunId("run_1")) is not None


async def test_what_goes_altogether_between_two_that_are_compared_is_no_difference(
    store: SqlStore, clock: ManualClock, url: str
) -> None:
    """Both were listed, and the second has no journal any more when its turn comes."""
    for number in range(2):
        await end_run(store, clock, f"run_{number}")
    clock.move(800 * DAY)

    async def sweep_elsewhere() -> None:
        other = await open_store(url, clock=clock)
        try:
            assert (await sweep(other)).removed["audit"] == 2
        finally:
            await other.close()

    def progress(looked_at: int) -> None:
        if looked_at == 1:
            in_thread(sweep_elsewhere)

    assert await differences(store, progress) == []
    assert await store.lists.runs(limit=9) == []


async def test_a_run_that_went_without_a_tombstone_between_two_is_named(
    store: SqlStore, clock: ManualClock, url: str
) -> None:
    for number in range(2):
        await begin(store.journal, clock, f"run_{number}")

    def progress(looked_at: int) -> None:
        for table in ("journal", "runs") if looked_at == 1 else ():
            ask(url, f"DELETE FROM {table} WHERE run_id = 'run_1'")

    (words,) = await differences(store, progress)
    assert words.startswith("run_1: ")
