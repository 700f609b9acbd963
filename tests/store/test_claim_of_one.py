"""One run is taken up by its name, due or not."""

from __future__ import annotations

import asyncio
from datetime import timedelta

from agent.rules.ids import RunId
from store import SqlStore
from store.leases import SqlLeases
from tests.store.clock import ManualClock
from tests.store.conftest import OpenAnother
from tests.store.database import ask
from tests.store.story import begin_shown

TERM = timedelta(seconds=30)
MOMENT = timedelta(microseconds=1)


class TestOne:
    """One run, or thread, is taken up by its id."""

    async def test_it_is_claimed_before_its_time(
        self, store: SqlStore, leases: SqlLeases, clock: ManualClock
    ) -> None:
        run_id = await begin_shown(store, clock)
        (lease,) = await leases.claim("p1", TERM, 1)
        await leases.defer(lease, until=clock.now() + TERM * 10)
        taken = await leases.claim_one(run_id, "p2", TERM, seen_seq=1)
        assert taken is not None
        assert (taken.holder, taken.fence) == ("p2", 2)
        assert taken.expires_at == clock.now() + TERM

    async def test_it_is_claimed_though_nothing_is_to_be_done(
        self, store: SqlStore, leases: SqlLeases, clock: ManualClock
    ) -> None:
        run_id = await begin_shown(store, clock)
        (lease,) = await leases.claim("p1", TERM, 1)
        await leases.suspend(lease, seen_seq=1, until=None)
        assert await leases.claim_one(run_id, "p2", TERM, seen_seq=1) is not None

    async def test_it_is_left_to_whoever_holds_it(
        self, store: SqlStore, leases: SqlLeases, clock: ManualClock
    ) -> None:
        run_id = await begin_shown(store, clock)
        await leases.claim("p1", TERM, 1)
        clock.move(TERM - MOMENT)
        assert await leases.claim_one(run_id, "p2", TERM, seen_seq=1) is None
        clock.move(MOMENT)
        assert await leases.claim_one(run_id, "p2", TERM, seen_seq=1) is not None

    async def test_what_has_moved_on_is_not_claimed_as_it_was(
        self, store: SqlStore, leases: SqlLeases, clock: ManualClock
    ) -> None:
        run_id = await begin_shown(store, clock)
        assert await leases.claim_one(run_id, "p", TERM, seen_seq=0) is None
        assert await leases.claim_one(run_id, "p", TERM, seen_seq=1) is not None

    async def test_no_other_is_claimed(
        self, store: SqlStore, leases: SqlLeases, clock: ManualClock
    ) -> None:
        await begin_shown(store, clock, "run_1")
        await begin_shown(store, clock, "run_2")
        await leases.claim_one(RunId("run_2"), "p", TERM, seen_seq=1)
        assert [one.run_id for one in await leases.claim("p", TERM, 9)] == ["run_1"]
        assert await leases.claim_one(RunId("run_0"), "p", TERM, seen_seq=1) is None

    async def test_it_is_left_to_a_newer_build(
        self, store: SqlStore, leases: SqlLeases, clock: ManualClock, url: str
    ) -> None:
        run_id = await begin_shown(store, clock)
        ask(url, "UPDATE runs SET format = 99")
        assert await leases.claim_one(run_id, "p", TERM, seen_seq=1) is None

    async def test_of_many_at_once_one_has_it(
        self, store: SqlStore, leases: SqlLeases, open_another: OpenAnother, clock: ManualClock
    ) -> None:
        run_id = await begin_shown(store, clock)
        other = await open_another()
        rivals = other.run_leases if leases is store.run_leases else other.thread_leases
        taken = await asyncio.gather(
            *(
                (leases, rivals)[n % 2].claim_one(run_id, f"p{n}", TERM, seen_seq=1)
                for n in range(8)
            )
        )
        assert sum(one is not None for one in taken) == 1
