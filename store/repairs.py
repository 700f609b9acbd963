"""Where what is kept beside a journal contradicts it, and the write that puts each of it right.

The journal is right: its chain held when it was read. A decision whose row somebody changed, a row that
was lost or put in: each is made what the fold says.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Connection, Table, bindparam, delete, insert, update

from agent.errors import CorruptJournal, SessionBusy
from agent.rules.state import RunState
from agent.rules.steps import Done, Suspend, next_step
from store import awaited
from store.approval_repairs import KeptApproval, of_approvals
from store.halted import kept_by
from store.instants import Instant
from store.repair import Repair
from store.schema import FORMAT, operations, runs, threads
from store.sessions import must_be_free
from store.wakeups import stir

#: Nobody puts a run off for longer than this without a reason that stands in its journal.
PUT_OFF_AT_MOST = timedelta(hours=1)
#: No lease lasts longer, whatever its row says.
LONGEST_LEASE = timedelta(days=1)
#: Of a row whose fence was lost: beyond any that a holder of the old one may have.
FENCE_OF_A_NEW_ROW = 2**32

_REPEATED = (
    "agent",
    "session",
    "requester",
    "status",
    "format",
    "is_held",
    "is_stopping",
    "halted_by",
)
_SET_RUN = (
    update(runs)
    .where(runs.c.run_id == bindparam("of_run"))
    .values({name: bindparam(f"new_{name}") for name in _REPEATED})
)
_SET_START = (
    update(runs)
    .where(runs.c.run_id == bindparam("of_run"))
    .values(started_at=bindparam("new_start", type_=Instant))
)
_WAKE_RUN = (
    update(runs)
    .where(runs.c.run_id == bindparam("of_run"))
    .values(wake_at=bindparam("new_wake_at", type_=Instant))
)
_END_LEASE = {
    table: update(table)
    .where(table.c.run_id == bindparam("of_run"))
    .values(holder=None, lease_expires_at=None, wake_at=bindparam("new_wake_at", type_=Instant))
    for table in (runs, threads)
}
_DELETE_OPERATION = delete(operations).where(operations.c.operation_id == bindparam("of_operation"))
_INSERT_OPERATION = insert(operations)
_INSERT_THREAD = insert(threads)
_SET_THREAD = (
    update(threads)
    .where(threads.c.run_id == bindparam("of_run"))
    .values(wanted_seq=bindparam("new_seq"), wake_at=bindparam("new_wake_at", type_=Instant))
)


@dataclass(frozen=True, slots=True)
class KeptRun:
    """What a run's own row repeats of its journal, and when it is due."""

    agent: str
    session: str
    requester: str
    status: str
    format: int
    is_held: bool
    is_stopping: bool
    halted_by: str
    started_at: datetime
    wake_at: datetime | None
    holder: str | None
    lease_expires_at: datetime | None


@dataclass(frozen=True, slots=True)
class KeptThread:
    wanted_seq: int
    shown_seq: int
    wake_at: datetime | None
    holder: str | None
    lease_expires_at: datetime | None


@dataclass(frozen=True, slots=True)
class Kept:
    """What is kept of one run beside its journal."""

    run: KeptRun
    thread: KeptThread | None
    approvals: Mapping[str, KeptApproval]
    #: For whom each of them waits.
    awaited: Mapping[str, frozenset[awaited.Row]]
    #: Those of its operations that lead to it.
    operations: Collection[str]


def find_repairs(state: RunState, kept: Kept, now: datetime) -> Iterator[Repair]:
    """What contradicts ``state``."""
    yield from _of_run(state, kept.run)
    yield from _of_start(state, kept.run)
    yield from _of_lease(state, runs, kept.run, now)
    yield from _of_wake(state, kept.run, now)
    yield from of_approvals(state, kept.approvals, kept.awaited)
    yield from _of_operations(state, kept.operations)
    if state.place is not None:
        if kept.thread is not None:
            yield from _of_lease(state, threads, kept.thread, now)
        yield from _of_thread(state, kept.thread, now)


def _of_run(state: RunState, row: KeptRun) -> Iterator[Repair]:
    status = state.ending or "active"
    # What a newer build wrote could not be read here; what can is of this form, or was given a higher one.
    is_known = isinstance(row.format, int) and row.format <= FORMAT
    form = max(state.form, row.format) if is_known else state.form
    is_held, is_stopping = state.held is not None, state.stop is not None
    halted_by = kept_by(state.halts)
    has = (*_who(row), row.status, row.is_held, row.is_stopping, row.halted_by, row.format)
    if has == (*_who(state), status, is_held, is_stopping, halted_by, form):
        return

    def do(connection: Connection) -> None:
        if status == "active" and (row.status, row.session) != (status, state.session):
            _take_session(connection, state)
        right: dict[str, object] = {
            "agent": state.agent,
            "session": state.session,
            "requester": state.requester,
        }
        right |= {"status": status, "format": form}
        right |= {"is_held": is_held, "is_stopping": is_stopping, "halted_by": halted_by}
        new = {f"new_{name}": value for name, value in right.items()}
        connection.execute(_SET_RUN, {"of_run": state.run_id, **new})

    yield Repair("its row: agent, session, requester, status, form, hold, halt or stop", do)


def _of_start(state: RunState, row: KeptRun) -> Iterator[Repair]:
    """It has its place in lists and in its conversation by it, and is kept for so long at least."""
    if row.started_at == state.started_at:
        return

    def do(connection: Connection) -> None:
        connection.execute(_SET_START, {"of_run": state.run_id, "new_start": state.started_at})

    yield Repair("its row: when it began", do)


def _who(run: KeptRun | RunState) -> tuple[str, str, str]:
    return run.agent, run.session, run.requester


def _take_session(connection: Connection, state: RunState) -> None:
    try:
        must_be_free(connection, state.session)
    except SessionBusy as busy:
        why = f"its row had let go of its session, and {busy.run_id} has its session now"
        raise CorruptJournal(state.run_id, state.seq, why) from busy


def _of_lease(
    state: RunState, table: Table, row: KeptRun | KeptThread, now: datetime
) -> Iterator[Repair]:
    """A lease that nobody holds, or that lasts longer than any, keeps everybody away."""
    if row.lease_expires_at is None or row.lease_expires_at <= now or _is_held(row, now):
        return

    def do(connection: Connection) -> None:
        connection.execute(_END_LEASE[table], {"of_run": state.run_id, "new_wake_at": now})
        stir(connection)

    yield Repair(f"the lease on its {'thread' if table is threads else 'run'}: no holder's", do)


def _of_wake(state: RunState, row: KeptRun, now: datetime) -> Iterator[Repair]:
    """Is it due when there is something to do?"""
    if _is_held(row, now) or (row.wake_at is not None and row.wake_at <= now + PUT_OFF_AT_MOST):
        return
    match next_step(state, now):
        case Done() | Suspend(until=None):
            return
        case Suspend(until=until):
            due_at = until
        case _:
            due_at = now
    if row.wake_at is not None and due_at is not None and row.wake_at <= due_at:
        return

    def do(connection: Connection) -> None:
        connection.execute(_WAKE_RUN, {"of_run": state.run_id, "new_wake_at": due_at})
        stir(connection)

    yield Repair("when it is due", do)


def _of_operations(state: RunState, known: Collection[str]) -> Iterator[Repair]:
    lost = [id for call in state.own_calls if (id := call.operation_id) not in known]
    if not lost:
        return

    def do(connection: Connection) -> None:
        connection.execute(_DELETE_OPERATION, [{"of_operation": id} for id in lost])
        values = [{"operation_id": id, "run_id": state.run_id} for id in lost]
        connection.execute(_INSERT_OPERATION, values)

    yield Repair(f"operations that nobody could find: {', '.join(lost)}", do)


def _of_thread(state: RunState, row: KeptThread | None, now: datetime) -> Iterator[Repair]:
    values: dict[str, object] = {"of_run": state.run_id, "new_seq": state.seq, "new_wake_at": now}
    if row is None:

        def begin_anew(connection: Connection) -> None:
            # As far as anybody knows all of it has been shown: what has no row is looked for in the
            # thread before it is posted.
            new = {"run_id": state.run_id, "wanted_seq": state.seq, "shown_seq": state.seq}
            new |= {"wake_at": now, "fence": FENCE_OF_A_NEW_ROW}
            connection.execute(_INSERT_THREAD, new)
            stir(connection)

        yield Repair("its thread: missing", begin_anew)
        return
    is_asleep = row.wake_at is None or row.wake_at > now + PUT_OFF_AT_MOST
    # A file's column takes anything.
    is_shown = isinstance(row.shown_seq, int) and row.shown_seq >= state.seq
    is_lost = is_asleep and not is_shown and not _is_held(row, now)
    if row.wanted_seq != state.seq or is_lost:

        def catch_up(connection: Connection) -> None:
            held = {"new_wake_at": row.wake_at} if _is_held(row, now) else {}
            connection.execute(_SET_THREAD, values | held)
            stir(connection)

        yield Repair("its thread: how far it is behind", catch_up)


def _is_held(row: KeptRun | KeptThread, now: datetime) -> bool:
    ends_at = row.lease_expires_at
    return row.holder is not None and ends_at is not None and now < ends_at <= now + LONGEST_LEASE
