"""Which run has a session: one is active at a time, and each begins behind the newest."""

from __future__ import annotations

from sqlalchemy import Connection, bindparam, select, text

from agent.errors import GoneOn, SeqConflict, SessionBusy
from agent.ports import NewestRun
from agent.rules.ids import RunId, SessionId
from store.schema import runs

_ACTIVE = select(runs.c.run_id).where(
    runs.c.session == bindparam("of_session"), text("runs.status = 'active'")
)
_NEWEST = (
    select(runs.c.run_id, runs.c.head_seq)
    .where(runs.c.session == bindparam("of_session"))
    .order_by(runs.c.started_at.desc(), runs.c.run_id.desc())
    .limit(1)
)
_LOCK_NEWEST = _NEWEST.with_for_update(key_share=True)


def must_be_free(connection: Connection, session: SessionId) -> None:
    """Raises ``SessionBusy`` while the session has an active run."""
    if busy := connection.execute(_ACTIVE, {"of_session": session}).scalar():
        raise SessionBusy(session, busy)


def must_be_newest(connection: Connection, run_id: RunId, session: SessionId) -> None:
    """Raises ``GoneOn`` once another run has begun behind this one: that was told what this one left. Who
    begins one now waits for this run's row."""
    newest = newest_of(connection, session).run_id
    if newest is not None and newest != run_id:
        raise GoneOn(run_id, newest)


def must_be_as_seen(connection: Connection, session: SessionId, seen: NewestRun) -> None:
    """Raises ``SeqConflict`` unless that is the session's newest run, and has not moved. Nobody moves it
    from here to the commit, or begins the next one behind it, where rows are locked."""
    # Whoever waited for the row looks again: the one who had it may have begun the next run.
    connection.execute(_LOCK_NEWEST, {"of_session": session}).all()
    if newest_of(connection, session) != seen:
        raise SeqConflict(seen.run_id or "the first run of its session", seen.head_seq)


def newest_of(connection: Connection, session: SessionId) -> NewestRun:
    """The session's newest run, and where its journal ends."""
    row = connection.execute(_NEWEST, {"of_session": session}).one_or_none()
    return NewestRun() if row is None else NewestRun(RunId(row.run_id), row.head_seq)
