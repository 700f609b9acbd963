"""What can be leased, and the statements that do it: one mechanism over two tables.

A row is due when its ``wake_at`` has come. A claim moves that to the lease's end, so a row whose
holder died falls due like any other. The fence grows with each claim; only whoever has the newest
may write.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    ColumnElement,
    Connection,
    Select,
    Table,
    Update,
    and_,
    bindparam,
    case,
    false,
    literal,
    or_,
    select,
    text,
    true,
    tuple_,
    type_coerce,
    update,
)

from store.at_most import AT_MOST
from store.falling_due import is_due
from store.instants import Instant
from store.now import IN_A_TERM, NOW
from store.schema import FORMAT, runs, thread_messages, threads

#: No lease has ever been taken so often. A fence that somebody set beyond would, counted up, end the
#: statement in which it is, and with it everybody's claims: what has such a one is left alone.
_LAST_FENCE = 2**62
#: The same of the number of claims.
_MOST_CLAIMS = 1_000_000

_UNTIL = bindparam("until", type_=Instant)
_CAN_FOLD = runs.c.format <= FORMAT
_NEVER = false()
#: So long a run that is to end is left to those who have its agent, who may know more of what it had begun:
#: they look several times a second. Then anybody ends it, as nothing of it is begun any more.
LEFT_TO_ITS_AGENT = timedelta(seconds=10)
_LEFT_SINCE = type_coerce(NOW, BigInteger) - LEFT_TO_ITS_AGENT // timedelta(microseconds=1)
_IS_TO_END = and_(
    runs.c.is_stopping.is_(true()),
    text("runs.status = 'active'"),
    type_coerce(runs.c.updated_at, BigInteger) <= _LEFT_SINCE,
    type_coerce(runs.c.wake_at, BigInteger) <= _LEFT_SINCE,
)
_IS_OF_AGENTS = or_(runs.c.agent.in_(bindparam("agents", expanding=True)), _IS_TO_END)


@dataclass(frozen=True)
class LeaseTable:
    """The statements over one table that can be leased row by row."""

    claim: Update
    claim_of_agents: Update
    claim_one: Update
    give_back: Update
    renew: Update
    still_held: Select[str]
    #: Both return whether the row is due at once.
    suspend: Update
    defer: Update
    fence: Select[int]
    held_by: Select[str]
    end: Update


@dataclass(frozen=True)
class _Leased:
    """How a table is leased."""

    table: Table
    #: The column that moves with each event, and the one that follows it at a suspension.
    head: str
    shown: str | None = None
    #: The column that counts the claims since the head moved.
    counter: str | None = None
    #: Ties a row to its run, where the table is not the runs' own.
    of_run: ColumnElement[bool] | None = None
    #: What is due again at once when it is let go.
    is_doubted: ColumnElement[bool] = _NEVER
    #: The column that says that somebody has called for the row since it was claimed: it is not put off then.
    called_for: str | None = None

    def statements(self) -> LeaseTable:
        rows = self.table.c
        is_this = rows.run_id == bindparam("of_run")
        is_holders = rows.holder == bindparam("of_holder")
        has_fence = rows.fence == bindparam("of_fence")
        is_free = or_(rows.lease_expires_at.is_(None), rows.lease_expires_at <= NOW)
        return LeaseTable(
            claim=self._claim_due(_CAN_FOLD),
            claim_of_agents=self._claim_due(_CAN_FOLD, _IS_OF_AGENTS),
            claim_one=self._claim().where(
                is_this,
                is_free,
                rows.fence < _LAST_FENCE,
                rows[self.head] == self._seen,
                *self._of_run(_CAN_FOLD),
            ),
            give_back=update(self.table)
            .where(is_holders, rows.run_id.not_in(bindparam("but_not", expanding=True)))
            .values(wake_at=NOW, holder=None, lease_expires_at=None, **self._counted(literal(0))),
            renew=self._renew(is_holders),
            still_held=select(rows.run_id).where(self._is_held(is_holders)),
            suspend=self._suspend().where(is_this, has_fence).returning(is_due(self.table)),
            defer=self._defer().where(is_this, has_fence, is_holders).returning(is_due(self.table)),
            fence=select(rows.fence).where(is_this),
            held_by=select(rows.run_id).where(is_holders),
            end=update(self.table)
            .where(is_this, is_holders, rows.lease_expires_at > NOW)
            .values(wake_at=NOW, lease_expires_at=NOW),
        )

    def _claim_due(self, *conditions: ColumnElement[bool]) -> Update:
        """Choose and take in one statement. The choice locks and skips where a database can; that it
        is due is said again outside, which is what makes it right where none can."""
        rows = self.table.c
        due = (
            select(rows.run_id)
            .where(
                rows.wake_at <= NOW,
                rows.run_id.not_in(bindparam("but_not", expanding=True)),
                rows.fence < _LAST_FENCE,
                *self._of_run(*conditions),
            )
            .order_by(rows.wake_at, rows.run_id)
            .limit(AT_MOST)
            .with_for_update(skip_locked=True, key_share=True)
            .cte("due")
            .prefix_with("MATERIALIZED")
        )
        return self._claim().where(rows.run_id == due.c.run_id, rows.wake_at <= NOW)

    def _claim(self) -> Update:
        rows = self.table.c
        return (
            update(self.table)
            .values(
                holder=bindparam("new_holder"),
                fence=rows.fence + 1,
                wake_at=IN_A_TERM,
                lease_expires_at=IN_A_TERM,
                **self._counted(
                    case((self._count < _MOST_CLAIMS, self._count + 1), else_=self._count)
                ),
                **({self.called_for: False} if self.called_for else {}),
            )
            .returning(*self._lease)
        )

    def _renew(self, is_holders: ColumnElement[bool]) -> Update:
        """All in one statement. Where a database can, the rows are locked first, and those left out that
        somebody else has: one that is kept for long must not cost the others."""
        rows = self.table.c
        held = (
            select(rows.run_id, rows.fence)
            .where(self._is_held(is_holders))
            .with_for_update(skip_locked=True, key_share=True)
            .cte("held")
            .prefix_with("MATERIALIZED")
        )
        return (
            update(self.table)
            .where(rows.run_id == held.c.run_id, rows.fence == held.c.fence, is_holders)
            .values(wake_at=IN_A_TERM, lease_expires_at=IN_A_TERM)
            .returning(*self._lease)
        )

    def _is_held(self, is_holders: ColumnElement[bool]) -> ColumnElement[bool]:
        rows = self.table.c
        held = tuple_(rows.run_id, rows.fence).in_(bindparam("held", expanding=True))
        return and_(held, is_holders)

    def _suspend(self) -> Update:
        """Let go, if nothing has moved since it was looked at; to come back at once if somebody has called for
        it meanwhile. The next claim answers that."""
        return (
            update(self.table)
            .where(self.table.c[self.head] == self._seen)
            .values(
                **self._let_go(or_(self.is_doubted, self._is_called_for)),
                **({self.shown: self._seen} if self.shown else {}),
                **self._counted(literal(0)),
            )
        )

    def _defer(self) -> Update:
        """Let go, whatever has moved. After a fault the claim goes on counting."""
        is_fault = bindparam("is_fault", type_=Boolean)
        has_moved = self.table.c[self.head] > self._seen
        return update(self.table).values(
            **self._let_go(or_(has_moved, self._is_called_for)),
            **self._counted(case((is_fault, self._count), else_=0)),
        )

    @property
    def _is_called_for(self) -> ColumnElement[bool]:
        return self.table.c[self.called_for].is_(true()) if self.called_for else _NEVER

    @property
    def _seen(self) -> ColumnElement[Any]:
        return bindparam("seen_seq", type_=self.table.c[self.head].type)

    @property
    def _lease(self) -> tuple[ColumnElement[Any], ...]:
        """What a lease is made of."""
        rows = self.table.c
        return rows.run_id, rows.fence, rows.lease_expires_at, self._count

    @property
    def _count(self) -> ColumnElement[int]:
        """The claims since the head moved; where nobody counts them, one."""
        return literal(1).label("claims") if self.counter is None else self.table.c[self.counter]

    def _counted(self, count: ColumnElement[int]) -> dict[str, ColumnElement[int]]:
        return {} if self.counter is None else {self.counter: count}

    def _of_run(self, *conditions: ColumnElement[bool]) -> list[ColumnElement[bool]]:
        """Conditions on a row's run."""
        if self.of_run is None:
            return list(conditions)
        return [select(runs.c.run_id).where(self.of_run, *conditions).exists()]

    @staticmethod
    def _let_go(is_due: ColumnElement[bool]) -> dict[str, Any]:
        """Due at once, or at ``until``: then, or as of now if that is past. Else what is let go for a
        time that is past would come before all that waits, again and again."""
        wake_at = case((or_(is_due, _UNTIL <= NOW), NOW), else_=_UNTIL)
        return {"wake_at": wake_at, "holder": None, "lease_expires_at": None}


RUNS = _Leased(runs, head="head_seq", counter="claims").statements()
THREADS = _Leased(
    threads,
    head="wanted_seq",
    shown="shown_seq",
    of_run=runs.c.run_id == threads.c.run_id,
    is_doubted=select(thread_messages.c.key)
    .where(thread_messages.c.run_id == threads.c.run_id, thread_messages.c.digest == "")
    .exists(),
    called_for="is_called_for",
).statements()


def is_fence(fence: object) -> bool:
    """Can a row that has this fence be claimed?"""
    return isinstance(fence, int) and 0 <= fence < _LAST_FENCE


def end_leases(connection: Connection, holder: str, now: datetime | None) -> int:
    """What a dead process held is due now; how many that were. Run by run, each before its thread, as
    appends take them: two that wait for each other would else be possible."""
    of_holder = {"of_holder": holder}
    held = {
        one for t in (RUNS, THREADS) for one in connection.execute(t.held_by, of_holder).scalars()
    }
    values: list[dict[str, object]] = [
        {"of_run": run_id, "of_holder": holder, "now": now} for run_id in sorted(held)
    ]
    return sum(
        connection.execute(table.end, one).rowcount for one in values for table in (RUNS, THREADS)
    )
