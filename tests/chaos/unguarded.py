"""The store's statements without one of their guards: what goes wrong then, the check must see."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Literal

from sqlalchemy import Connection, bindparam, select, update

from agent.ports import Lease
from agent.rules.ids import RunId
from agent.rules.recorded import Recorded, Stamped
from store import SqlStore
from store.appends import Append, append
from store.bodies import write_body
from store.falling_due import is_due
from store.instants import Instant, microseconds
from store.journal import SqlJournal
from store.lease_tables import RUNS
from store.leases import SqlLeases
from store.now import IN_A_TERM, NOW
from store.schema import runs

#: Nothing, that the head has not moved (suspend), the fence (append), that it is due (claim).
Guard = Literal["none", "head", "fence", "due"]

_SUSPEND = (
    update(runs)
    .where(runs.c.run_id == bindparam("of_run"), runs.c.fence == bindparam("of_fence"))
    .values(wake_at=bindparam("until", type_=Instant), holder=None, lease_expires_at=None)
    .returning(is_due(runs))
)
_DUE = select(runs.c.run_id).where(runs.c.wake_at <= NOW).limit(bindparam("at_most"))
_TAKE = (
    update(runs)
    .where(runs.c.run_id.in_(bindparam("chosen", expanding=True)))
    .values(
        holder=bindparam("new_holder"),
        fence=runs.c.fence + 1,
        wake_at=IN_A_TERM,
        lease_expires_at=IN_A_TERM,
    )
    .returning(runs.c.run_id, runs.c.fence, runs.c.lease_expires_at)
)


def without(guard: Guard, store: SqlStore) -> SqlStore:
    """The same store; its own, for ``none``."""
    writer, clock = store.journal._writer, store.journal._clock
    match guard:
        case "head":
            table = replace(RUNS, suspend=_SUSPEND)
            return replace(store, run_leases=SqlLeases(table, writer, clock))
        case "fence":
            journal = store.journal
            blind = JournalWithoutFence(
                writer,
                journal._reader,
                clock,
                journal._moved,
                journal._is_drawn_here,
                journal._keys,
            )
            return replace(store, journal=blind)
        case "due":
            return replace(store, run_leases=LeasesChosenBefore(RUNS, writer, clock))
        case "none":
            return store


class JournalWithoutFence(SqlJournal):
    """Whoever was replaced goes on writing."""

    async def record(
        self, run_id: RunId, events: Sequence[Stamped], *, fence: int
    ) -> list[Recorded]:
        wanted = Append(run_id, tuple(map(write_body, events)), None, None)
        return await self._writer.run(lambda c: append(c, wanted, self._clock.told()), of=run_id)


class LeasesChosenBefore(SqlLeases):
    """Looks what is due, and takes it afterwards."""

    async def claim(
        self,
        holder: str,
        term: timedelta,
        limit: int,
        agents: Collection[str] | None = None,
        *,
        but_not: Collection[RunId] = (),
    ) -> list[Lease]:
        chosen = await self._writer.run(lambda c: _look(c, limit, self._clock.told()))

        def take(connection: Connection) -> list[Lease]:
            values = {
                "chosen": chosen,
                "new_holder": holder,
                "term": microseconds(term),
                "now": self._clock.told(),
            }
            rows = connection.execute(_TAKE, values).all()
            return [Lease(RunId(r.run_id), holder, r.fence, r.lease_expires_at) for r in rows]

        return await self._writer.run(take)


def _look(connection: Connection, limit: int, now: datetime | None) -> list[str]:
    # Of one run at a time: two that take several in different orders would wait for each other.
    rows = connection.execute(_DUE, {"at_most": min(limit, 1), "now": now})
    return [row.run_id for row in rows]
