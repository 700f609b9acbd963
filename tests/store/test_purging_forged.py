"""Whoever has the database can pass nothing off as removed by retention."""

from __future__ import annotations

import pytest

from agent.errors import CorruptJournal
from agent.rules.anchors import anchor_of
from agent.rules.ids import RunId
from agent.verifying import verify
from store import SqlStore
from store.verifying import SqlVerifier
from tests.store.clock import ManualClock
from tests.store.conftest import on_sqlite
from tests.store.database import ask
from tests.store.story import begin
from tests.store.test_purging import DAY, end_run, keeping, sweep


def forget(url: str, run_id: str) -> None:
    """As somebody who has the database takes a run out of it."""
    for table in ("tombstones", "journal", "approvals", "operations", "threads", "runs"):
        ask(url, f"DELETE FROM {table} WHERE run_id = ?", run_id)


class TestWhoeverHasTheDatabase:
    """Can blank nothing, and take no run away, and say that its time had come."""

    async def broken(self, store: SqlStore) -> list[tuple[str, int]]:
        return [(one.journal, one.seq) for one in (await verify(store.verifier)).breaks]

    async def test_can_blank_no_fact(self, store: SqlStore, clock: ManualClock, url: str) -> None:
        await end_run(store, clock)
        await end_run(store, clock, "run_2")
        clock.move(40 * DAY)
        await sweep(store)
        assert await self.broken(store) == []
        ask(url, "UPDATE journal SET purged_by = 1 WHERE run_id = 'run_1' AND seq = 8")
        assert await self.broken(store) == []  # It is what was written, and covered.
        ask(
            url,
            "UPDATE journal SET body = replace(body, 'It is done', 'It was not')"
            " WHERE run_id = 'run_1' AND seq = 8",
        )
        assert await self.broken(store) == [("run_1", 2)]
        with pytest.raises(CorruptJournal, match="not what the control journal says"):
            await store.journal.read(RunId("run_1"))

    async def test_can_blank_none_of_a_run_that_is_whole(
        self, store: SqlStore, clock: ManualClock, url: str
    ) -> None:
        await end_run(store, clock)
        clock.move(40 * DAY)
        await sweep(store)
        await end_run(store, clock, "run_2")
        ask(url, "UPDATE journal SET purged_by = 1 WHERE run_id = 'run_2' AND seq = 7")
        assert await self.broken(store) == [("run_2", 7)]
        with pytest.raises(CorruptJournal, match="does not say that it was removed"):
            await store.journal.read(RunId("run_2"))

    async def test_can_bury_no_run(self, store: SqlStore, clock: ManualClock, url: str) -> None:
        await end_run(store, clock)
        await end_run(store, clock, "run_2")
        clock.move(800 * DAY)
        await sweep(store, keeping(payloads=30))
        ask(
            url,
            "INSERT INTO tombstones SELECT run_id, 1, updated_at, head_seq, head_hash FROM runs"
            " WHERE run_id = 'run_2'",
        )
        ask(url, "UPDATE runs SET purged = 3 WHERE run_id = 'run_2'")
        assert await self.broken(store) == [("run_2", 8)]

    async def test_can_hide_no_run_without_a_tombstone(
        self, store: SqlStore, clock: ManualClock, url: str
    ) -> None:
        await end_run(store, clock)
        ask(url, "UPDATE runs SET purged = 3")
        assert await self.broken(store) == [("run_1", 1)]
        ask(url, "DELETE FROM journal")
        assert await self.broken(store) == [("run_1", 1)]

    async def test_can_change_no_tombstone(
        self, store: SqlStore, clock: ManualClock, url: str
    ) -> None:
        await end_run(store, clock)
        clock.move(800 * DAY)
        await sweep(store)
        assert await self.broken(store) == []
        ask(url, "UPDATE tombstones SET head_seq = 5")
        assert await self.broken(store) == [("run_1", 5)]

    @on_sqlite
    @pytest.mark.parametrize(
        ("damage", "seq"),
        [
            ("head_seq = 'many'", 0),
            ("head_seq = -1", 0),
            ("head_hash = x'00'", 8),
            ("purged_by = 'x'", 8),
            ("purged_at = 'x'", None),
        ],
    )
    async def test_can_put_nothing_into_a_tombstone_that_ends_a_check(
        self, store: SqlStore, clock: ManualClock, url: str, damage: str, seq: int | None
    ) -> None:
        await end_run(store, clock)
        clock.move(800 * DAY)
        await sweep(store)
        ask(url, f"UPDATE tombstones SET {damage}")
        assert await self.broken(store) == ([] if seq is None else [("run_1", seq)])

    async def test_can_change_no_tombstone_among_many(
        self, store: SqlStore, clock: ManualClock, url: str
    ) -> None:
        names = [f"run_{number}" for number in range(7)]
        for name in names:
            await end_run(store, clock, name)
        clock.move(800 * DAY)
        before = await verify(store.verifier)
        anchor = anchor_of(before.heads, clock.now())
        await sweep(store)
        ask(url, "UPDATE tombstones SET head_seq = 5 WHERE run_id = 'run_3'")
        verifier = SqlVerifier(store.purges._reader, at_a_time=2)
        verified = await verify(verifier, anchor=anchor)
        assert [(one.journal, one.seq) for one in verified.breaks] == [("run_3", 5)]
        assert verified.purged == len(names)

    @pytest.mark.parametrize("days", [40, 100, 800])
    async def test_can_take_no_run_away_with_its_tombstone(
        self, store: SqlStore, clock: ManualClock, url: str, days: int
    ) -> None:
        await end_run(store, clock)
        clock.move(days * DAY)
        await sweep(store)
        await end_run(store, clock, "run_2")
        assert await self.broken(store) == []
        forget(url, "run_1")
        assert await self.broken(store) == [("run_1", 8)]
        assert not (await verify(store.verifier, RunId("run_1"))).is_whole

    async def test_can_put_no_other_run_where_one_was(
        self, store: SqlStore, clock: ManualClock, url: str
    ) -> None:
        await end_run(store, clock)
        clock.move(40 * DAY)
        await sweep(store)
        forget(url, "run_1")
        await begin(store.journal, clock, "run_1")
        assert await self.broken(store) == [("run_1", 8)]

    async def test_can_have_no_evidence_removed(
        self, store: SqlStore, clock: ManualClock, url: str
    ) -> None:
        await end_run(store, clock)
        ask(url, "UPDATE journal SET body = replace(body, '180', '9') WHERE seq = 4")
        clock.move(800 * DAY)
        swept = await sweep(store)
        assert (dict(swept.removed), dict(swept.spared)) == ({}, {"it can't be read": 1})
        assert await self.broken(store) == [("run_1", 4)]
