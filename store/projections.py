"""What follows from the journals is compared with them, and put right."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import fields
from datetime import datetime
from typing import Any, TypeVar

from sqlalchemy import (
    Connection,
    Row,
    Select,
    and_,
    bindparam,
    literal_column,
    or_,
    select,
    text,
    tuple_,
)

from agent.errors import NotFound
from agent.rules.ids import ApprovalId, RunId
from agent.rules.state import RunState
from store import awaited, reservation_rows
from store.approval_repairs import KeptApproval
from store.approvals import IS_EXPIRED, IS_OF_BEFORE, IS_PENDING
from store.clock import StoreClock
from store.halted import NOTHING
from store.keys import Keys
from store.lost_approvals import LostApprovals
from store.now import NOW
from store.queued import LAST
from store.reader import Reader
from store.repair import Repair
from store.repairs import Kept, KeptRun, KeptThread, find_repairs
from store.schema import FORM_WITH_LIMITS, FORMAT, approvals, operations, runs, threads
from store.writer import Writer

K = TypeVar("K", KeptRun, KeptThread, KeptApproval)

_SUSPECTS_AT_A_TIME = 100
#: So many values fit into one statement everywhere.
_OPERATIONS_AT_A_TIME = 500

_AT = select(runs.c.head_seq, runs.c.head_hash).where(runs.c.run_id == bindparam("of_run"))
_HEAD = _AT.with_for_update(key_share=True)
# Nobody claims the thread either, until what is written of it stands.
_THREAD = select(threads.c.run_id).where(threads.c.run_id == bindparam("of_run")).with_for_update()
# One row for each approval, and one without where there is none.
_KEPT = (
    select(
        runs.c.head_seq,
        runs.c.head_hash,
        *(runs.c[one.name].label(f"run_{one.name}") for one in fields(KeptRun)),
        *(threads.c[one.name].label(f"thread_{one.name}") for one in fields(KeptThread)),
        *(approvals.c[one.name].label(f"approval_{one.name}") for one in fields(KeptApproval)),
    )
    .join(threads, threads.c.run_id == runs.c.run_id, isouter=True)
    .join(approvals, approvals.c.run_id == runs.c.run_id, isouter=True)
    .where(runs.c.run_id == bindparam("of_run"))
)
_OPERATIONS = select(operations.c.operation_id).where(
    operations.c.operation_id.in_(bindparam("operation_ids", expanding=True)),
    operations.c.run_id == bindparam("of_run"),
)
# One that is due or leased is mended by whoever works it, and one that waits for people has an approval that
# waits for them, or that nobody decided in time and nothing followed; one that a person holds waits for that
# person, however many of them there are. But no build here takes up one of a form beyond: a newer one wrote to
# it, or its row is wrong.
_newer = approvals.alias("newer")
_IS_FOLLOWED = (
    select(literal_column("1"))
    .where(_newer.c.run_id == approvals.c.run_id, _newer.c.requested_at > approvals.c.requested_at)
    .exists()
)
_SUSPECTS = (
    select(runs.c.started_at, runs.c.run_id)
    .where(
        text("runs.status = 'active'"),
        or_(
            runs.c.format > FORMAT,
            and_(
                or_(
                    runs.c.lease_expires_at.is_(None),
                    runs.c.lease_expires_at <= NOW,
                    runs.c.holder.is_(None),
                ),
                or_(runs.c.wake_at.is_(None), runs.c.wake_at > NOW),
                ~runs.c.is_held,
                runs.c.halted_by == NOTHING,
                ~select(literal_column("1"))
                .where(
                    approvals.c.run_id == runs.c.run_id,
                    or_(IS_PENDING, and_(IS_EXPIRED, ~_IS_FOLLOWED)),
                )
                .exists(),
            ),
        ),
    )
    .order_by(runs.c.started_at, runs.c.run_id)
    .limit(_SUSPECTS_AT_A_TIME)
)
# By when they were asked, so that no more is looked at than is listed, however much was decided.
_OF_APPROVALS = (
    select(approvals.c.requested_at, approvals.c.approval_id, approvals.c.run_id)
    .join(runs, runs.c.run_id == approvals.c.run_id)
    .order_by(approvals.c.requested_at, approvals.c.approval_id)
    .limit(_SUSPECTS_AT_A_TIME)
)
# Listed, though its run has ended and nothing is left to be decided.
LISTED_IN_VAIN = _OF_APPROVALS.where(
    IS_PENDING, approvals.c.kind != "review", text("runs.status <> 'active'")
)
# An older build asked it, and did not say for whom it waits.
ASKED_BEFORE = _OF_APPROVALS.where(IS_OF_BEFORE, or_(IS_PENDING, text("runs.status = 'active'")))
_BEHIND = tuple_(approvals.c.requested_at, approvals.c.approval_id) > tuple_(
    bindparam("after_asking", type_=approvals.c.requested_at.type), bindparam("after_approval")
)
_MORE_SUSPECTS = _SUSPECTS.where(
    tuple_(runs.c.started_at, runs.c.run_id)
    > tuple_(bindparam("after_start", type_=runs.c.started_at.type), bindparam("after_run"))
)


class SqlProjections:
    """The ``Projections`` port. ``moved`` is called after each write."""

    def __init__(
        self,
        writer: Writer,
        reader: Reader,
        clock: StoreClock,
        moved: Callable[[], None],
        keys: Keys,
    ) -> None:
        self._writer = writer
        self._reader = reader
        self._clock = clock
        self._moved = moved
        self._lost_approvals = LostApprovals(reader, clock, keys.cipher)

    async def differences(self, state: RunState) -> list[str]:
        found, words = await self._found(state)
        return [repair.words for repair in found if repair.is_wrong] + words

    async def _found(self, state: RunState) -> tuple[list[Repair], list[str]]:
        """What contradicts the journal, and what is wrong with its reservations."""
        now = self._clock.now()

        def work(connection: Connection) -> tuple[list[Repair], list[str]]:
            words = reservation_rows.differences(connection, state) if _has(state) else []
            return _find(connection, state, now), words

        return await self._reader.run(work)

    async def mend(self, state: RunState) -> list[str]:
        if not any(await self._found(state)):
            return []

        def work(connection: Connection) -> list[str]:
            # From here to the commit nobody appends.
            head = connection.execute(_HEAD, {"of_run": state.run_id}).one_or_none()
            if head is None or tuple(head) != (state.seq, state.head_hash):
                return []
            connection.execute(_THREAD, {"of_run": state.run_id}).all()
            found = _find(connection, state, self._clock.now())
            for repair in found:
                repair.do(connection)
            words = [repair.words for repair in found if repair.is_wrong]
            return words + (reservation_rows.mend(connection, state) if _has(state) else [])

        # Limits are other runs' too.
        of = LAST if _has(state) else state.run_id
        mended = await self._writer.run(work, of=of)
        self._moved()
        return mended

    async def suspects(self) -> AsyncIterator[RunId]:
        for of_approvals in (LISTED_IN_VAIN, ASKED_BEFORE):
            more, told = of_approvals.where(_BEHIND), set[str]()
            rows = await self._rows(of_approvals)
            while rows:
                for row in rows:
                    if row.run_id not in told:
                        yield RunId(row.run_id)
                    told.add(row.run_id)
                after = rows[-1]
                rows = await self._rows(
                    more, after_asking=after.requested_at, after_approval=after.approval_id
                )
        rows = await self._rows(_SUSPECTS)
        while rows:
            for row in rows:
                yield RunId(row.run_id)
            last = rows[-1]
            rows = await self._rows(
                _MORE_SUSPECTS, after_start=last.started_at, after_run=last.run_id
            )

    async def askers(self, approval_id: ApprovalId) -> list[RunId]:
        return await self._lost_approvals.askers(approval_id)

    async def _rows(self, statement: Select[Any], **values: object) -> Sequence[Row[Any]]:
        values["now"] = self._clock.told()
        return await self._reader.run(lambda c: c.execute(statement, values).all())


def _has(state: RunState) -> bool:
    """Can it have reservations? Those of older forms can't, and nothing is looked for."""
    return state.form >= FORM_WITH_LIMITS


def _find(connection: Connection, state: RunState, now: datetime) -> list[Repair]:
    """Nothing where the journal has moved on: whoever looks next will see."""
    rows = connection.execute(_KEPT, {"of_run": state.run_id}).all()
    if not rows:
        raise NotFound("run", state.run_id)
    if (rows[0].head_seq, rows[0].head_hash) != (state.seq, state.head_hash):
        return []
    kept = Kept(
        run=_kept(KeptRun, "run", rows[0]),
        thread=None if rows[0].thread_wanted_seq is None else _kept(KeptThread, "thread", rows[0]),
        approvals={
            row.approval_approval_id: _kept(KeptApproval, "approval", row)
            for row in rows
            if row.approval_approval_id is not None
        },
        awaited=_awaited(connection, state),
        operations=_known_operations(connection, state),
    )
    found = list(find_repairs(state, kept, now))
    # Not all of it was read at one moment: what contradicts may have come with a fact since.
    return found if not found or _is_at(connection, state) else []


def _is_at(connection: Connection, state: RunState) -> bool:
    head = connection.execute(_AT, {"of_run": state.run_id}).one_or_none()
    return head is not None and tuple(head) == (state.seq, state.head_hash)


def _kept(what: type[K], prefix: str, row: Row[Any]) -> K:
    return what(**{one.name: getattr(row, f"{prefix}_{one.name}") for one in fields(what)})


def _awaited(connection: Connection, state: RunState) -> dict[str, frozenset[awaited.Row]]:
    if not state.approvals:
        return {}
    found = defaultdict[str, set[awaited.Row]](set)
    for id, *row in connection.execute(awaited.ROWS_OF_RUN, {"of_run": state.run_id}):
        found[id].add(awaited.Row(*row))
    return {id: frozenset(rows) for id, rows in found.items()}


def _known_operations(connection: Connection, state: RunState) -> set[str]:
    ids = [call.operation_id for call in state.own_calls]
    known: set[str] = set()
    for start in range(0, len(ids), _OPERATIONS_AT_A_TIME):
        part: Sequence[str] = ids[start : start + _OPERATIONS_AT_A_TIME]
        values = {"operation_ids": part, "of_run": state.run_id}
        known |= set(connection.execute(_OPERATIONS, values).scalars())
    return known
