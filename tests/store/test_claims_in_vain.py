"""How often a run was claimed since it moved: what nobody gets on with is noticed."""

from __future__ import annotations

from datetime import timedelta

import pytest

from agent.ports import Process
from store import SqlStore
from tests.store.clock import ManualClock
from tests.store.conftest import OpenAnother
from tests.store.story import begin, begin_shown, replied, stamps

TERM = timedelta(seconds=30)
MOMENT = timedelta(microseconds=1)


class TestClaimsInVain:
    """How often a run has been claimed since its journal moved says whether it gets anywhere."""

    async def claims(self, store: SqlStore, clock: ManualClock) -> int:
        """Claimed once more, by a process that then dies."""
        (lease,) = await store.run_leases.claim("p", TERM, 1)
        clock.move(TERM)
        return lease.claims

    async def test_each_claim_counts(self, store: SqlStore, clock: ManualClock) -> None:
        await begin(store.journal, clock)
        assert [await self.claims(store, clock) for _ in range(3)] == [1, 2, 3]

    async def test_they_are_counted_by_run(self, store: SqlStore, clock: ManualClock) -> None:
        await begin(store.journal, clock, "run_1")
        await self.claims(store, clock)
        await begin(store.journal, clock, "run_2")
        leases = await store.run_leases.claim("p", TERM, 2)
        assert {lease.run_id: lease.claims for lease in leases} == {"run_1": 2, "run_2": 1}

    @pytest.mark.parametrize("is_from_outside", [True, False])
    async def test_an_append_begins_the_count_anew(
        self, store: SqlStore, clock: ManualClock, is_from_outside: bool
    ) -> None:
        run_id = await begin(store.journal, clock)
        await self.claims(store, clock)
        (lease,) = await store.run_leases.claim("p", TERM, 1)
        fence = None if is_from_outside else lease.fence
        await store.journal.intend(run_id, stamps(clock, replied()), expected_seq=1, fence=fence)
        clock.move(TERM)
        assert await self.claims(store, clock) == 1

    async def test_an_append_that_was_made_before_does_not(
        self, store: SqlStore, clock: ManualClock
    ) -> None:
        run_id = await begin(store.journal, clock)
        events = stamps(clock, replied())
        await store.journal.intend(run_id, events, expected_seq=1)
        await self.claims(store, clock)
        await store.journal.intend(run_id, events, expected_seq=1)
        assert await self.claims(store, clock) == 2

    async def test_letting_go_in_good_order_begins_it_anew(
        self, store: SqlStore, clock: ManualClock
    ) -> None:
        await begin(store.journal, clock)
        await self.claims(store, clock)
        (lease,) = await store.run_leases.claim("p", TERM, 1)
        assert await store.run_leases.suspend(lease, seen_seq=1, until=clock.now())
        assert await self.claims(store, clock) == 1
        (lease,) = await store.run_leases.claim("p", TERM, 1)
        assert lease.claims == 2
        await store.run_leases.defer(lease, until=clock.now())
        assert await self.claims(store, clock) == 1

    async def test_after_a_fault_it_goes_on_counting(
        self, store: SqlStore, clock: ManualClock
    ) -> None:
        await begin(store.journal, clock)
        (lease,) = await store.run_leases.claim("p", TERM, 1)
        await store.run_leases.defer(lease, until=clock.now(), is_fault=True)
        assert await self.claims(store, clock) == 2

    async def test_a_renewal_does_not_count(self, store: SqlStore, clock: ManualClock) -> None:
        await begin(store.journal, clock)
        held = await store.run_leases.claim("p", TERM, 1)
        (renewed,) = (await store.run_leases.renew("p", held, TERM)).extended
        assert renewed.claims == 1
        clock.move(TERM)
        assert await self.claims(store, clock) == 2

    @pytest.mark.usefixtures("quick_deaths")
    async def test_a_process_that_dies_has_claimed_in_vain(
        self, store: SqlStore, open_another: OpenAnother, clock: ManualClock
    ) -> None:
        await begin(store.journal, clock)
        dying = await open_another()
        await dying.processes.join(Process("p", "test", ("refunds",), True, False))
        await dying.run_leases.claim("p", TERM, 1)
        await dying.close()
        assert await store.processes.bury_dead() == ["p"]
        assert await self.claims(store, clock) == 2

    async def test_of_a_thread_they_are_not_counted(
        self, store: SqlStore, clock: ManualClock
    ) -> None:
        await begin_shown(store, clock)
        for _ in range(2):
            (lease,) = await store.thread_leases.claim("p", TERM, 1)
            assert lease.claims == 1
            clock.move(TERM)
