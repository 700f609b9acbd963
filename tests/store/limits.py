"""A call that reserves, begun and ended, in few words."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

from agent.ports import Lease
from agent.rules.effects import reserved
from agent.rules.events import CallStarted, Event
from agent.rules.fold import fold
from agent.rules.ids import CallId, RunId
from agent.rules.reservations import Reservation
from store import SqlStore
from store.limits import read_amount
from tests.store.clock import ManualClock
from tests.store.database import ask
from tests.store.story import begin, replied, stamps

DAY = "refunds a day"
TERM = timedelta(hours=1)


def of_limit(amount: str, max: str = "500", limit: str = DAY) -> Reservation:
    return Reservation(limit=limit, amount=Decimal(amount), max=Decimal(max))


def begun(clock: ManualClock, call: str, *reserves: Reservation, attempt: int = 1) -> CallStarted:
    deadline = clock.now() + timedelta(minutes=1)
    return CallStarted(
        call_id=CallId(call), attempt=attempt, deadline=deadline, reserves=tuple(reserves)
    )


class Worked:
    """A run that is worked here, with calls that its model has proposed."""

    def __init__(self, store: SqlStore, clock: ManualClock, lease: Lease) -> None:
        self.store = store
        self.run_id = lease.run_id
        self._clock = clock
        self._fence = lease.fence

    @classmethod
    async def of(
        cls,
        store: SqlStore,
        clock: ManualClock,
        name: str,
        *calls: str,
        session: str | None = None,
    ) -> Worked:
        run_id = await begin(store.journal, clock, name, session=session)
        lease = await store.run_leases.claim_one(run_id, "p1", TERM, seen_seq=1)
        assert lease is not None
        worked = cls(store, clock, lease)
        await worked.tell(replied(*calls))
        return worked

    async def tell(self, *events: Event) -> None:
        await self.store.journal.record(
            self.run_id, stamps(self._clock, *events), fence=self._fence
        )

    async def start(self, call: str, *reserves: Reservation, attempt: int = 1) -> None:
        await self.tell(begun(self._clock, call, *reserves, attempt=attempt))


async def used(store: SqlStore, limit: str = DAY) -> Decimal:
    return (await store.limits.used([limit]))[limit]


async def as_folded(store: SqlStore, run_id: RunId) -> list[tuple[str, str, Decimal, str]]:
    state = fold(await store.journal.read(run_id))
    return sorted((r.call_id, r.limit, r.amount, r.status) for r in reserved(state))


def as_kept(url: str, run_id: RunId) -> list[tuple[str, str, Decimal, str]]:
    rows = ask(
        url,
        "SELECT call_id, limit_key, amount, status FROM reservations WHERE run_id = ?",
        run_id,
    )
    return sorted(
        (call, limit, read_amount(amount, limit), status) for call, limit, amount, status in rows
    )
