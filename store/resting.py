"""What decides whether something of an ended run may go, beside its journal."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import BindParameter, Connection, bindparam, exists, or_, select, text

from agent.rules.ids import RunId, SessionId
from agent.rules.reservations import COUNTING
from agent.rules.retention import Resting
from agent.rules.standing import scope_of_run, scope_of_session
from store.approvals import IS_PENDING
from store.keys import Keys
from store.marks import is_vouched_for, must_be_vouched_for
from store.now import NOW
from store.purged import was_begun
from store.schema import approvals, grants, reservations, runs, threads
from store.sessions import newest_of

_OF_RUN: BindParameter[str] = bindparam("of_run")
_ITSELF = runs.alias("itself")
_RUN = select(
    runs.c.agent,
    runs.c.status,
    runs.c.session,
    runs.c.started_at,
    runs.c.updated_at,
    runs.c.purged,
    runs.c.purged_to,
    runs.c.head_seq,
    runs.c.head_hash,
    runs.c.mark,
    or_(
        runs.c.lease_expires_at > NOW,
        exists().where(threads.c.run_id == _OF_RUN, threads.c.lease_expires_at > NOW),
    ).label("is_held"),
    exists().where(approvals.c.run_id == _OF_RUN, IS_PENDING).label("is_asked_about"),
    exists()
    .where(threads.c.run_id == _OF_RUN, threads.c.shown_seq < threads.c.wanted_seq)
    .label("is_undrawn"),
).where(runs.c.run_id == _OF_RUN)
_COUNTS_IN = (
    select(reservations.c.limit_key)
    .distinct()
    .where(reservations.c.run_id == _OF_RUN, reservations.c.status.in_(sorted(COUNTING)))
)
_OTHERS = (
    select(runs.c.run_id)
    .where(runs.c.session == bindparam("of_session"), runs.c.run_id != _OF_RUN)
    .limit(1)
)
_BESIDE = (
    select(runs.c.run_id, runs.c.head_seq)
    .where(
        runs.c.session
        == select(_ITSELF.c.session).where(_ITSELF.c.run_id == _OF_RUN).scalar_subquery(),
        runs.c.run_id != _OF_RUN,
    )
    .order_by(runs.c.started_at.desc(), runs.c.run_id.desc())
)
_HAS_GRANT = (
    select(grants.c.grant_id)
    .where(
        # Said so that the partial index serves.
        text("grants.revoked_seq IS NULL"),
        grants.c.agent == bindparam("of_agent"),
        grants.c.scope.in_(bindparam("scopes", expanding=True)),
        or_(grants.c.expires_at.is_(None), grants.c.expires_at > NOW),
    )
    .limit(1)
)


def look_at(
    connection: Connection, run_id: RunId, now: datetime | None, keys: Keys
) -> Resting | None:
    """None for a run that is not there."""
    of_run = {"of_run": run_id}
    row = connection.execute(_RUN, {**of_run, "now": now}).one_or_none()
    if row is None:
        return None
    session = SessionId(row.session)
    scopes = [scope_of_run(run_id), scope_of_session(session)]
    of_grant = {"of_agent": row.agent, "scopes": scopes}
    has_grant = connection.execute(_HAS_GRANT, {**of_grant, "now": now}).first() is not None
    return Resting(
        status=row.status,
        started_at=row.started_at,
        moved_at=row.updated_at,
        level=row.purged,
        is_held=bool(row.is_held),
        is_asked_about=bool(row.is_asked_about),
        is_undrawn=bool(row.is_undrawn),
        is_newest=newest_of(connection, session).run_id == run_id,
        has_grant=has_grant,
        is_alone=connection.execute(_OTHERS, {**of_run, "of_session": session}).first() is None,
        counts_in=frozenset(connection.execute(_COUNTS_IN, of_run).scalars()),
        is_unvouched=not is_vouched_for(keys.audit, run_id, row.head_seq, row.head_hash, row.mark)
        and must_be_vouched_for(connection, keys.audit),
        is_begun_by_nobody=row.purged_to is not None
        and not was_begun(connection, run_id, row.purged, row.purged_to, keys),
    )


def beside(connection: Connection, run_id: RunId) -> Sequence[tuple[RunId, int]]:
    """The other runs of its conversation, newest first, and where they end."""
    rows = connection.execute(_BESIDE, {"of_run": run_id})
    return [(RunId(row.run_id), row.head_seq) for row in rows]
