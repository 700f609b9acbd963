"""Leases on runs and on threads: one mechanism over two tables.

A row is due when its ``wake_at`` has come. A claim moves that to the lease's end, so a row whose
holder died falls due like any other. The fence grows with each claim; only whoever has the newest
may write.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import (
    ColumnElement,
    Connection,
    Integer,
    Select,
    Table,
    Update,
    bindparam,
    case,
    false,
    select,
    tuple_,
    update,
)

from agent.errors import LeaseLost
from agent.ports import Clock, Lease
from agent.rules.ids import RunId
from store.instants import Instant
from store.schema import FORMAT, runs, thread_messages, threads
from store.writer import Writer

_NOW = bindparam("now", type_=Instant)
_UNTIL = bindparam("until", type_=Instant)
_LET_GO = {"wake_at": _UNTIL, "holder": None, "lease_expires_at": None}


@dataclass(frozen=True)
class LeaseTable:
    """A table that can be leased row by row, with its statements."""

    claim: Update
    claim_of_agents: Update
    renew: Update
    suspend: Update
    defer: Update
    fence: Select[int]
    end_all: Update


def _lease_table(
    table: Table,
    head: str,
    shown: str | None,
    of_run: ColumnElement[bool] | None,
    is_doubted: ColumnElement[bool],
) -> LeaseTable:
    """``head`` is the column that moves with each event, ``shown`` the one that follows it at a
    suspension; ``of_run`` ties a row to its run where the table is not the runs' own; what
    ``is_doubted`` is due again at once."""
    is_this = (table.c.run_id == bindparam("of_run"), table.c.fence == bindparam("of_fence"))
    seen = bindparam("seen_seq", type_=table.c[head].type)
    return LeaseTable(
        claim=_claim(table, _of_run(of_run, runs.c.format <= FORMAT)),
        claim_of_agents=_claim(
            table,
            _of_run(
                of_run,
                runs.c.format <= FORMAT,
                runs.c.agent.in_(bindparam("agents", expanding=True)),
            ),
        ),
        renew=update(table)
        .where(
            tuple_(table.c.run_id, table.c.fence).in_(bindparam("held", expanding=True)),
            table.c.holder == bindparam("of_holder"),
        )
        .values(wake_at=_UNTIL, lease_expires_at=_UNTIL)
        .returning(table.c.run_id, table.c.fence),
        suspend=update(table)
        .where(*is_this, table.c[head] == seen)
        .values(
            **_LET_GO | {"wake_at": case((is_doubted, _NOW), else_=_UNTIL)},
            **({shown: seen} if shown else {}),
        ),
        defer=update(table)
        .where(*is_this, table.c.holder == bindparam("of_holder"))
        .values(**_LET_GO | {"wake_at": case((table.c[head] > seen, _NOW), else_=_UNTIL)}),
        fence=select(table.c.fence).where(table.c.run_id == bindparam("of_run")),
        end_all=update(table)
        .where(table.c.holder == bindparam("of_holder"), table.c.lease_expires_at > _NOW)
        .values(wake_at=_NOW, lease_expires_at=_NOW),
    )


def _of_run(
    of_run: ColumnElement[bool] | None, *conditions: ColumnElement[bool]
) -> list[ColumnElement[bool]]:
    if of_run is None:
        return list(conditions)
    return [select(runs.c.run_id).where(of_run, *conditions).exists()]


def _claim(table: Table, conditions: list[ColumnElement[bool]]) -> Update:
    """Choose and take in one statement. The choice locks and skips where a database can; that it is
    due is said again outside, which is what makes it right where none can."""
    due = (
        select(table.c.run_id)
        .where(table.c.wake_at <= _NOW, *conditions)
        .order_by(table.c.wake_at, table.c.run_id)
        .limit(bindparam("at_most", type_=Integer))
        .with_for_update(skip_locked=True)
        .cte("due")
        .prefix_with("MATERIALIZED")
    )
    return (
        update(table)
        .where(table.c.run_id == due.c.run_id, table.c.wake_at <= _NOW)
        .values(
            holder=bindparam("new_holder"),
            fence=table.c.fence + 1,
            wake_at=_UNTIL,
            lease_expires_at=_UNTIL,
        )
        .returning(table.c.run_id, table.c.fence)
    )


_HAS_DOUBTED_MESSAGE = (
    select(thread_messages.c.key)
    .where(thread_messages.c.run_id == threads.c.run_id, thread_messages.c.digest == "")
    .exists()
)

RUNS = _lease_table(runs, "head_seq", None, None, false())
THREADS = _lease_table(
    threads,
    "wanted_seq",
    "shown_seq",
    runs.c.run_id == threads.c.run_id,
    _HAS_DOUBTED_MESSAGE,
)


def end_leases(connection: Connection, holder: str, now: datetime) -> int:
    """What a dead process held is due now; how many that were."""
    values = {"of_holder": holder, "now": now}
    return sum(connection.execute(t.end_all, values).rowcount for t in (RUNS, THREADS))


class SqlLeases:
    """The ``Leases`` port over one table."""

    def __init__(self, table: LeaseTable, writer: Writer, clock: Clock) -> None:
        self._table = table
        self._writer = writer
        self._clock = clock

    async def claim(
        self,
        holder: str,
        term: timedelta,
        limit: int,
        agents: Collection[str] | None = None,
    ) -> list[Lease]:
        def work(connection: Connection) -> list[Lease]:
            now = self._clock.now()
            values = {"new_holder": holder, "now": now, "until": now + term, "at_most": limit}
            if agents is None:
                rows = connection.execute(self._table.claim, values).all()
            else:
                values["agents"] = list(agents)
                rows = connection.execute(self._table.claim_of_agents, values).all()
            return [Lease(RunId(id), holder, fence, now + term) for id, fence in rows]

        return await self._writer.run(work)

    async def renew(self, holder: str, leases: Collection[Lease], term: timedelta) -> list[Lease]:
        if not leases:
            return []
        held = [(lease.run_id, lease.fence) for lease in leases]

        def work(connection: Connection) -> list[Lease]:
            until = self._clock.now() + term
            values = {"of_holder": holder, "held": held, "until": until}
            rows = connection.execute(self._table.renew, values).all()
            return [Lease(RunId(id), holder, fence, until) for id, fence in rows]

        return await self._writer.run(work)

    async def suspend(self, lease: Lease, *, seen_seq: int, until: datetime | None) -> bool:
        values: dict[str, object] = {
            "of_run": lease.run_id,
            "of_fence": lease.fence,
            "seen_seq": seen_seq,
            "until": until,
        }

        def work(connection: Connection) -> bool:
            values["now"] = self._clock.now()
            if connection.execute(self._table.suspend, values).rowcount == 1:
                return True
            fence = connection.execute(self._table.fence, {"of_run": lease.run_id}).scalar()
            if fence != lease.fence:
                raise LeaseLost(lease.run_id, lease.fence)
            return False

        return await self._writer.run(work)

    async def defer(self, lease: Lease, *, until: datetime, seen_seq: int | None = None) -> None:
        def work(connection: Connection) -> None:
            values = {
                "of_run": lease.run_id,
                "of_fence": lease.fence,
                "of_holder": lease.holder,
                "now": self._clock.now(),
                "until": until,
                # NULL is less than nothing: then ``until`` stands.
                "seen_seq": seen_seq,
            }
            connection.execute(self._table.defer, values)

        await self._writer.run(work)
