"""Leases on runs and on threads: claimed, renewed, let go."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, Row

from agent.errors import LeaseLost
from agent.ports import Lease, Renewal
from agent.rules.ids import RunId
from store.clock import StoreClock
from store.falling_due import tell_if_due
from store.instants import microseconds
from store.lease_tables import THREADS, LeaseTable
from store.queued import LAST
from store.wakeups import stir
from store.writer import Writer, of_thread


class SqlLeases:
    """The ``Leases`` port over one table."""

    def __init__(self, table: LeaseTable, writer: Writer, clock: StoreClock) -> None:
        self._table = table
        self._writer = writer
        self._clock = clock

    async def claim(
        self,
        holder: str,
        term: timedelta,
        limit: int,
        agents: Collection[str] | None = None,
        *,
        but_not: Collection[RunId] = (),
    ) -> list[Lease]:
        def work(connection: Connection) -> list[Lease]:
            values = {
                "new_holder": holder,
                "at_most": limit,
                "but_not": list(but_not),
                **self._until(term),
            }
            if agents is None:
                rows = connection.execute(self._table.claim, values).all()
            else:
                values["agents"] = list(agents)
                rows = connection.execute(self._table.claim_of_agents, values).all()
            return [_lease(row, holder) for row in rows]

        return await self._writer.run(work, of=LAST)

    async def claim_one(
        self, run_id: RunId, holder: str, term: timedelta, *, seen_seq: int
    ) -> Lease | None:
        def work(connection: Connection) -> Lease | None:
            values = {
                "of_run": run_id,
                "seen_seq": seen_seq,
                "new_holder": holder,
                **self._until(term),
            }
            row = connection.execute(self._table.claim_one, values).one_or_none()
            return None if row is None else _lease(row, holder)

        return await self._writer.run(work, of=self._name(run_id))

    async def give_back(self, holder: str, *, but_not: Collection[RunId]) -> None:
        def work(connection: Connection) -> None:
            values = {"of_holder": holder, "but_not": list(but_not), "now": self._clock.told()}
            if connection.execute(self._table.give_back, values).rowcount:
                stir(connection)

        await self._writer.run(work, of=LAST)

    async def renew(self, holder: str, leases: Collection[Lease], term: timedelta) -> Renewal:
        if not leases:
            return Renewal()
        held = {(lease.run_id, lease.fence) for lease in leases}

        def work(connection: Connection) -> Renewal:
            self._clock.measure(connection)
            values = {"of_holder": holder, "held": sorted(held), **self._until(term)}
            rows = connection.execute(self._table.renew, values).all()
            missing = held - {(row.run_id, row.fence) for row in rows}
            busy = self._still_held(connection, holder, missing)
            return Renewal(tuple(_lease(row, holder) for row in rows), busy)

        return await self._writer.run(work, of=LAST)

    def _still_held(
        self, connection: Connection, holder: str, missing: Collection[tuple[RunId, int]]
    ) -> frozenset[RunId]:
        """Of what could not be extended. Whoever locked one may be taking it; then it is lost next time."""
        if not missing:
            return frozenset()
        values = {"of_holder": holder, "held": sorted(missing)}
        return frozenset(map(RunId, connection.execute(self._table.still_held, values).scalars()))

    async def suspend(self, lease: Lease, *, seen_seq: int, until: datetime | None) -> bool:
        values: dict[str, object] = {
            "of_run": lease.run_id,
            "of_fence": lease.fence,
            "seen_seq": seen_seq,
            "until": until,
        }

        def work(connection: Connection) -> bool:
            values["now"] = self._clock.told()
            if row := connection.execute(self._table.suspend, values).one_or_none():
                tell_if_due(connection, row.is_due)
                if row.is_due:
                    # It was to wait for a time that has come already: whoever let it go would find it due,
                    # and take it for too early, again and again until their clock had come as far.
                    self._clock.measure(connection)
                return True
            fence = connection.execute(self._table.fence, {"of_run": lease.run_id}).scalar()
            if fence != lease.fence:
                raise LeaseLost(lease.run_id, lease.fence)
            return False

        return await self._writer.run(work, of=self._name(lease.run_id))

    async def defer(
        self,
        lease: Lease,
        *,
        until: datetime,
        seen_seq: int | None = None,
        is_fault: bool = False,
    ) -> None:
        def work(connection: Connection) -> None:
            values = {
                "of_run": lease.run_id,
                "of_fence": lease.fence,
                "of_holder": lease.holder,
                "now": self._clock.told(),
                "until": until,
                # NULL is less than nothing: then ``until`` stands.
                "seen_seq": seen_seq,
                "is_fault": is_fault,
            }
            tell_if_due(connection, connection.execute(self._table.defer, values).scalar())

        await self._writer.run(work, of=self._name(lease.run_id))

    def _name(self, run_id: RunId) -> str:
        return of_thread(run_id) if self._table is THREADS else run_id

    def _until(self, term: timedelta) -> dict[str, Any]:
        return {"now": self._clock.told(), "term": microseconds(term)}


def _lease(row: Row[Any], holder: str) -> Lease:
    return Lease(RunId(row.run_id), holder, row.fence, row.lease_expires_at, row.claims)
