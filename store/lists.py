"""Which runs and approvals there are."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, Row, Select, bindparam, func, select, text

from agent.errors import Unstorable
from agent.ports import ApprovalRow, Clock, RunRow, StartsLimit
from agent.rules.decisions import Decider
from agent.rules.ids import ApprovalId, OperationId, Principal, RunId, SessionId
from agent.rules.purges import removed_at
from store.approvals import IS_PENDING
from store.at_most import AT_MOST
from store.reader import Reader
from store.schema import approvals, operations, runs
from store.starts import must_be_below
from store.waiting import APPROVAL, decided_lately, groups_asked, undecided, waiting_for

# Literals, as in ``store.approvals``.
_IS_ACTIVE = text("runs.status = 'active'")

_RUN = select(
    runs.c.run_id,
    runs.c.agent,
    runs.c.session,
    runs.c.requester,
    runs.c.head_seq,
    runs.c.status,
    runs.c.holder,
    runs.c.lease_expires_at,
    runs.c.purged,
)
_RUNS = _RUN.order_by(runs.c.started_at.desc(), runs.c.run_id.desc()).limit(AT_MOST)
_OF_REQUESTER = bindparam("of_requester", type_=runs.c.requester.type)
# In the order of the index that begins with them, and of no other: a server that does not know whose runs are asked
# for would else go through everybody's to find them.
_RUNS_OF_REQUESTER = (
    _RUN.where(runs.c.requester >= _OF_REQUESTER, runs.c.requester <= _OF_REQUESTER)
    .order_by(runs.c.requester.desc(), runs.c.started_at.desc(), runs.c.run_id.desc())
    .limit(AT_MOST)
)
RUNS_BY = {
    (False, False): _RUNS,
    (True, False): _RUNS_OF_REQUESTER,
    (False, True): _RUNS.where(_IS_ACTIVE),
    (True, True): _RUNS_OF_REQUESTER.where(_IS_ACTIVE),
}
RUNS_OF_SESSION = _RUNS.where(runs.c.session == bindparam("of_session"))
_RUN_OF_ID = _RUN.where(runs.c.run_id == bindparam("of_run"))
_RUN_OF_SESSION = _RUN.where(runs.c.session == bindparam("of_session"), _IS_ACTIVE)
_RUN_OF_KEY = select(runs.c.run_id).where(runs.c.key == bindparam("of_key"))

_APPROVALS = APPROVAL.order_by(approvals.c.requested_at, approvals.c.approval_id).limit(AT_MOST)
_PENDING_APPROVALS = _APPROVALS.where(IS_PENDING)
_NEWEST_APPROVALS = APPROVAL.order_by(
    approvals.c.requested_at.desc(), approvals.c.approval_id.desc()
).limit(AT_MOST)
APPROVALS_BY = {
    (False, False): _APPROVALS,
    (True, False): _PENDING_APPROVALS,
    (False, True): _NEWEST_APPROVALS,
    (True, True): _NEWEST_APPROVALS.where(IS_PENDING),
}
_EACH = select(approvals.c.approval_id).limit(AT_MOST)
COUNT_APPROVALS, COUNT_PENDING = (
    select(func.count()).select_from(each.subquery()) for each in (_EACH, _EACH.where(IS_PENDING))
)
_APPROVAL_OF_ID = APPROVAL.where(approvals.c.approval_id == bindparam("of_approval"))

_RUN_OF_OPERATION = select(operations.c.run_id).where(
    operations.c.operation_id == bindparam("of_operation")
)


class SqlLists:
    """The ``Lists`` port."""

    def __init__(self, reader: Reader, clock: Clock) -> None:
        self._reader = reader
        self._clock = clock

    async def runs(
        self, *, limit: int, requester: Principal | None = None, active_only: bool = False
    ) -> list[RunRow]:
        statement = RUNS_BY[requester is not None, active_only]
        rows = await self._rows(statement, at_most=limit, of_requester=requester)
        return [self._run(row) for row in rows]

    async def run(self, run_id: RunId) -> RunRow | None:
        rows = await self._rows(_RUN_OF_ID, of_run=run_id)
        return self._run(rows[0]) if rows else None

    async def active_run(self, session: SessionId) -> RunRow | None:
        rows = await self._rows(_RUN_OF_SESSION, of_session=session)
        return self._run(rows[0]) if rows else None

    async def runs_of_session(self, session: SessionId, *, limit: int) -> list[RunRow]:
        rows = await self._rows(RUNS_OF_SESSION, of_session=session, at_most=limit)
        return [self._run(row) for row in rows]

    async def run_of_key(self, key: str) -> RunId | None:
        rows = await self._rows(_RUN_OF_KEY, of_key=key)
        return RunId(rows[0].run_id) if rows else None

    async def approvals(
        self, *, limit: int, pending_only: bool = True, newest_first: bool = False
    ) -> list[ApprovalRow]:
        statement = APPROVALS_BY[pending_only, newest_first]
        return [_approval(row) for row in await self._rows(statement, at_most=limit)]

    async def count_approvals(self, *, at_most: int, pending_only: bool = True) -> int:
        statement = COUNT_PENDING if pending_only else COUNT_APPROVALS
        rows = await self._rows(statement, at_most=at_most)
        return int(rows[0][0])

    async def undecided(self, *, limit: int) -> list[ApprovalRow]:
        rows = await self._reader.run(lambda c: undecided(c, limit))
        return [_approval(row) for row in rows]

    async def must_have_starts_left(
        self, requester: Principal, agent: str, limit: StartsLimit
    ) -> None:
        now = self._clock.now()
        await self._reader.run(lambda c: must_be_below(c, requester, agent, limit, now))

    async def groups_asked(self, *, limit: int) -> list[str]:
        return await self._reader.run(lambda c: groups_asked(c, limit))

    async def waiting_for(self, decider: Decider, *, limit: int) -> list[ApprovalRow]:
        rows = await self._reader.run(lambda c: waiting_for(c, decider, limit))
        return [_approval(row) for row in rows]

    async def decided_lately(self, principal: Principal, *, limit: int) -> list[ApprovalRow]:
        rows = await self._reader.run(lambda c: decided_lately(c, principal, limit))
        return [_approval(row) for row in rows]

    async def approval(self, approval_id: ApprovalId) -> ApprovalRow | None:
        rows = await self._rows(_APPROVAL_OF_ID, of_approval=approval_id)
        return _approval(rows[0]) if rows else None

    async def run_of_operation(self, operation_id: OperationId) -> RunId | None:
        rows = await self._rows(_RUN_OF_OPERATION, of_operation=operation_id)
        return RunId(rows[0].run_id) if rows else None

    async def _rows(self, statement: Select[Any], **values: object) -> list[Row[Any]]:
        def work(connection: Connection) -> list[Row[Any]]:
            return list(connection.execute(statement, values).all())

        try:
            return await self._reader.run(work)
        except Unstorable:
            # Nothing has such a name.
            return []

    def _run(self, row: Row[Any]) -> RunRow:
        expires_at = row.lease_expires_at
        is_held = expires_at is not None and expires_at > self._clock.now()
        return RunRow(
            run_id=RunId(row.run_id),
            agent=row.agent,
            session=SessionId(row.session),
            requester=Principal(row.requester),
            head_seq=row.head_seq,
            status=row.status,
            holder=row.holder if is_held else None,
            removed=removed_at(row.purged),
        )


def _approval(row: Row[Any]) -> ApprovalRow:
    return ApprovalRow(ApprovalId(row.approval_id), RunId(row.run_id), row.status, row.requested_at)
