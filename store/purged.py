"""Whether what is gone was removed: the control journal says so, and covers what is left of it.

Otherwise whoever has the database could blank a fact, or take a run away, and say that its time had come.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import BigInteger, Connection, bindparam, func, select
from sqlalchemy import Row as SqlRow

from agent.errors import (
    CorruptJournal,
    NotFound,
    PayloadsRemoved,
    PilothouseError,
    Purged,
    UnknownEvent,
)
from agent.ports.purges import PastRemoval
from agent.rules.control import RecordedControl, RunsPurged
from agent.rules.ids import ApprovalId, RunId
from agent.rules.purges import ALL_GONE, PurgedPart, level_of
from store.bodies import Row
from store.chain import NOT_REMOVED, Break, digest_of_kept
from store.control_facts import BEFORE, IS_BEFORE, PREVIOUS, whole_fact
from store.keys import Keys
from store.schema import buried_approvals, control_journal, journal, runs, tombstones

_FACT = (
    select(control_journal, PREVIOUS)
    .join(BEFORE, IS_BEFORE, isouter=True)
    .where(control_journal.c.seq == bindparam("at_seq", type_=BigInteger))
)
_KEPT = (
    select(journal)
    .where(
        journal.c.run_id == bindparam("of_run"),
        journal.c.seq >= bindparam("from_seq", type_=BigInteger),
        journal.c.seq <= bindparam("to_seq", type_=BigInteger),
    )
    .order_by(journal.c.seq)
)
_TOMBSTONE = select(tombstones).where(tombstones.c.run_id == bindparam("of_run"))
_ASKED_BY = select(buried_approvals.c.run_id).where(
    buried_approvals.c.approval_id == bindparam("of_approval")
)
_STATUS = select(runs.c.status).where(runs.c.run_id == bindparam("of_run"))
_REMOVED_BY = select(journal.c.purged_by).where(
    journal.c.run_id == bindparam("of_run"),
    journal.c.seq == bindparam("at_seq", type_=BigInteger),
)
_NEWEST = select(func.max(journal.c.purged_by)).where(journal.c.run_id == bindparam("of_run"))


def was_removed(
    connection: Connection, run_id: RunId, by: Mapping[int, object], keys: Keys
) -> Break | None:
    """How it shows that what is gone of this run's facts was not removed as ``by`` says: for each seq, its
    ``purged_by``."""
    facts: dict[object, Sequence[PurgedPart]] = {}
    seen: set[tuple[object, int]] = set()
    for seq, purged_by in by.items():
        if purged_by not in facts:
            facts[purged_by] = _parts(connection, run_id, purged_by, keys)
        part = next((one for one in facts[purged_by] if one.from_seq <= seq <= one.to_seq), None)
        if part is None:
            return Break(seq, NOT_REMOVED)
        if (purged_by, part.from_seq) not in seen:
            seen.add((purged_by, part.from_seq))
            if part.kept != digest_of_kept(_links(connection, run_id, part, keys)):
                return Break(seq, "what is left of it is not what the control journal says")
    return None


def tombstone(connection: Connection, run_id: str) -> SqlRow[Any] | None:
    """The row that is left of a run of which everything was removed."""
    return connection.execute(_TOMBSTONE, {"of_run": run_id}).one_or_none()


def must_not_be_purged(connection: Connection, run_id: str) -> None:
    """Raises ``Purged`` for a run of which everything was removed."""
    if (row := tombstone(connection, run_id)) is not None:
        raise Purged(run_id, row.purged_at, row.head_seq)


def why_not_written(connection: Connection, run_id: str) -> PilothouseError:
    """Of a run that is not there, or of which something was removed: why nothing can be appended to it."""
    if (row := tombstone(connection, run_id)) is not None:
        return Purged(run_id, row.purged_at, row.head_seq)
    status = connection.execute(_STATUS, {"of_run": run_id}).scalar_one_or_none()
    return NotFound("run", run_id) if status is None else PayloadsRemoved(run_id, status)


def why_no_tombstone(connection: Connection, row: SqlRow[Any], keys: Keys) -> str | None:
    """How it shows that this row was put there by somebody else; None: the control journal bears it out."""
    part = next(iter(_parts(connection, RunId(row.run_id), row.purged_by, keys)), None)
    if part is None or part.removed != "audit":
        return NOT_REMOVED
    if (part.head_seq, part.head_hash) != (row.head_seq, row.head_hash):
        return "its tombstone is not what the control journal says"
    return None


def was_begun(
    connection: Connection, run_id: RunId, level: object, to_seq: object, keys: Keys
) -> bool:
    """Does the control journal say that so much of the run was removed, up to there? Its row alone says nothing:
    whoever has the database could have it gone on with."""
    if level == ALL_GONE:
        row = tombstone(connection, run_id)
        return row is not None and why_no_tombstone(connection, row, keys) is None
    values = {"of_run": run_id, "at_seq": to_seq}
    at_seq = connection.execute(_REMOVED_BY, values).scalar_one_or_none()
    return any(
        (level_of(part.removed), part.to_seq) == (level, to_seq)
        for part in _parts(connection, run_id, at_seq, keys)
    )


def what_was_purged(connection: Connection, run_id: RunId, keys: Keys) -> PastRemoval | None:
    """The newest removal of this run's; None: none, or the run was never there. Raises ``CorruptJournal``,
    ``UnknownEvent``."""
    row = tombstone(connection, run_id)
    at_seq = row.purged_by if row is not None else None
    if at_seq is None:
        at_seq = connection.execute(_NEWEST, {"of_run": run_id}).scalar()
    fact = None if at_seq is None else _fact(connection, at_seq, keys)
    part = next((one for one in _parts_of(fact, run_id)), None)
    if fact is None or part is None:
        return None
    return PastRemoval(run_id, part.removed, fact.at, part.rule, part.head_seq, part.head_hash)


def where_it_was_asked(
    connection: Connection, approval_id: ApprovalId, keys: Keys
) -> PastRemoval | None:
    """The run of which everything was removed, and that had asked this; None: no such run did."""
    run_id = connection.execute(_ASKED_BY, {"of_approval": approval_id}).scalar_one_or_none()
    return None if run_id is None else what_was_purged(connection, RunId(run_id), keys)


def _fact(connection: Connection, at_seq: object, keys: Keys) -> RecordedControl | None:
    found = connection.execute(_FACT, {"at_seq": at_seq}).one_or_none()
    return None if found is None else whole_fact(found, keys)


def _parts(
    connection: Connection, run_id: RunId, at_seq: object, keys: Keys
) -> Sequence[PurgedPart]:
    """What the fact there says of this run; nothing where it is none, or is not what was written."""
    if not isinstance(at_seq, int):
        return ()
    try:
        return _parts_of(_fact(connection, at_seq, keys), run_id)
    except (CorruptJournal, UnknownEvent):
        return ()


def _parts_of(fact: RecordedControl | None, run_id: RunId) -> Sequence[PurgedPart]:
    if fact is None or not isinstance(fact.event, RunsPurged):
        return ()
    return [part for part in fact.event.parts if part.run_id == run_id]


def _links(connection: Connection, run_id: RunId, part: PurgedPart, keys: Keys) -> list[Row]:
    values = {"of_run": run_id, "from_seq": part.from_seq, "to_seq": part.to_seq}
    return [Row.of(run_id, found, keys) for found in connection.execute(_KEPT, values)]
