"""A few facts are removed in one transaction with the fact of the control journal that says so.

A removal is one of a run's facts in pieces. What was begun is marked in the run's row and gone on with by anybody. Of a
run of which everything goes, the tombstone stands before its first fact is deleted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256
from typing import Any

from sqlalchemy import (
    BigInteger,
    BindParameter,
    Connection,
    Integer,
    bindparam,
    case,
    delete,
    insert,
    select,
    update,
)

from agent.rules.control import RunsPurged, StampedControl
from agent.rules.ids import EventId, Principal
from agent.rules.purges import ALL_GONE, PurgedPart, level_of
from store.bodies import write_control_body
from store.clock import StoreClock
from store.control import append_facts
from store.keys import Keys
from store.limit_ends import take_out
from store.now import NOW
from store.purge_claims import CANDIDATE
from store.purge_pieces import Piece
from store.purged import tombstone, was_begun
from store.resting import beside, look_at
from store.schema import (
    approvals,
    awaited,
    buried_approvals,
    journal,
    openings,
    operations,
    runs,
    thread_messages,
    threads,
    tombstones,
)

_LOCK = (
    select(*CANDIDATE, runs.c.head_hash)
    .where(runs.c.run_id == bindparam("of_run"))
    .with_for_update(skip_locked=True)
)
_MOVE = (
    update(runs)
    .where(runs.c.run_id == bindparam("of_run"))
    .values(
        purged=bindparam("new_level", type_=Integer),
        purged_to=bindparam("new_to", type_=BigInteger),
        # What is done is nobody's any more.
        spared_until=case(
            (bindparam("new_to", type_=BigInteger).is_not(None), runs.c.spared_until)
        ),
    )
)
_REWRITE = (
    update(journal)
    .where(journal.c.run_id == bindparam("of_run"), journal.c.seq == bindparam("of_seq"))
    .values(body=bindparam("new_body"), purged_by=bindparam("new_by"))
)
_DELETE_FACTS = delete(journal).where(
    journal.c.run_id == bindparam("of_run"), journal.c.seq <= bindparam("to_seq")
)
_RUN_IDS: BindParameter[Any] = bindparam("run_ids", expanding=True)
_BURY = insert(tombstones).from_select(
    ["run_id", "purged_by", "purged_at", "head_seq", "head_hash"],
    select(
        runs.c.run_id,
        bindparam("new_by", type_=BigInteger),
        NOW,
        runs.c.head_seq,
        runs.c.head_hash,
    ).where(runs.c.run_id.in_(_RUN_IDS)),
)
_BURY_APPROVALS = insert(buried_approvals).from_select(
    ["approval_id", "run_id"],
    select(approvals.c.approval_id, approvals.c.run_id).where(approvals.c.run_id.in_(_RUN_IDS)),
)
_ASKED = select(approvals.c.approval_id).where(approvals.c.run_id.in_(_RUN_IDS))
_FORGET = (
    delete(awaited).where(awaited.c.approval_id.in_(_ASKED)),
    *(
        delete(table).where(table.c.run_id.in_(_RUN_IDS))
        for table in (
            approvals,
            operations,
            thread_messages,
            threads,
            openings,
            journal,
            runs,
        )
    ),
)


@dataclass
class Transaction:
    """Removes a batch of pieces; called, it gives those that are removed then. It may be called again when the answer
    to its commit was lost: what that had removed counts."""

    batch: Sequence[Piece]
    by: Principal
    clock: StoreClock
    keys: Keys
    _tried: list[Piece] = field(default_factory=list)

    def __call__(self, connection: Connection) -> list[Piece]:
        now = self.clock.told()
        done = [one for one in self._tried if _is_done(connection, one)]
        gone = [one for one in self.batch if _may_still(connection, one, now, self.keys)]
        self._tried += [one for one in gone if one not in self._tried]
        at_seq = self._record(connection, [one for one in gone if not _is_said(one)])
        rewritten = [one for one in gone if one.removal.removed != "audit"]
        _rewrite(connection, rewritten, at_seq, self.keys)
        _delete(connection, [one for one in gone if one.removal.removed == "audit"], at_seq, now)
        return done + gone

    def _record(self, connection: Connection, pieces: Sequence[Piece]) -> int | None:
        """Where the control journal says so."""
        if not pieces:
            return None
        parts = [_part(connection, one) for one in pieces]
        event = RunsPurged(by=self.by, parts=tuple(parts))
        stamped = StampedControl(_id_of(parts), self.clock.now(), event)
        return append_facts(connection, [write_control_body(stamped, self.keys)])


def _is_done(connection: Connection, piece: Piece) -> bool:
    """Was it committed, when it was tried before?"""
    row = connection.execute(_LOCK, {"of_run": piece.removal.run_id}).one_or_none()
    if row is None:
        return tombstone(connection, piece.removal.run_id) is not None
    level = level_of(piece.removal.removed)
    return (row.purged, row.purged_to) == (level, None if piece.is_last else piece.to_seq)


def _may_still(connection: Connection, piece: Piece, now: datetime | None, keys: Keys) -> bool:
    """Is the run as it was when this was decided? Then its row is ours until the commit."""
    removal, level = piece.removal, level_of(piece.removal.removed)
    row = connection.execute(_LOCK, {"of_run": removal.run_id}).one_or_none()
    if row is None or row.head_seq != removal.head_seq:
        return False
    if not piece.is_first:
        done = piece.from_seq - 1
        return (row.purged, row.purged_to) == (level, done) and was_begun(
            connection, removal.run_id, level, done, keys
        )
    resting = look_at(connection, removal.run_id, now, keys)
    if resting is None or resting.is_unvouched or resting.status == "active":
        return False
    if resting.is_held or resting.is_asked_about:
        return False
    if removal.beside is not None and not removal.beside.issuperset(
        beside(connection, removal.run_id)
    ):
        return False
    # What it used of limits is what it was when this was decided: its journal has not moved.
    return (
        row.purged < level
        and row.purged_to is None
        and not (resting.has_grant and level == ALL_GONE)
    )


def _is_said(piece: Piece) -> bool:
    """Has the control journal all of it already?"""
    return piece.removal.removed == "audit" and not piece.is_first


def _part(connection: Connection, piece: Piece) -> PurgedPart:
    removal = piece.removal
    row = connection.execute(_LOCK, {"of_run": removal.run_id}).one()
    is_all = removal.removed == "audit"
    return PurgedPart(
        run_id=removal.run_id,
        removed=removal.removed,
        rule=removal.rule,
        from_seq=piece.from_seq,
        to_seq=removal.head_seq if is_all else piece.to_seq,
        head_seq=row.head_seq,
        head_hash=row.head_hash,
        kept=piece.kept,
    )


def _id_of(parts: Sequence[PurgedPart]) -> EventId:
    """The same removal is the same fact."""
    what = "\n".join(f"{one.run_id} {one.removed} {one.from_seq}" for one in parts)
    return EventId("evt_" + sha256(what.encode()).hexdigest()[:32])


def _rewrite(
    connection: Connection, pieces: Sequence[Piece], at_seq: int | None, keys: Keys
) -> None:
    rows = [
        {
            "of_run": piece.removal.run_id,
            "of_seq": one.seq,
            "new_body": keys.cipher.keep(piece.removal.run_id, one.seq, one.body),
            "new_by": at_seq,
        }
        for piece in pieces
        for one in piece.rewritten
    ]
    if rows:
        connection.execute(_REWRITE, rows)
    for piece in pieces:
        _move(connection, piece)


def _delete(
    connection: Connection, pieces: Sequence[Piece], at_seq: int | None, now: datetime | None
) -> None:
    if first := [one.removal.run_id for one in pieces if one.is_first]:
        connection.execute(_BURY, {"run_ids": first, "new_by": at_seq, "now": now})
        connection.execute(_BURY_APPROVALS, {"run_ids": first})
    if last := [one.removal.run_id for one in pieces if one.is_last]:
        take_out(connection, last)
        for forget in _FORGET:
            connection.execute(forget, {"run_ids": last})
    for one in pieces:
        if not one.is_last:
            of_run = {"of_run": one.removal.run_id, "to_seq": one.to_seq}
            connection.execute(_DELETE_FACTS, of_run)
            _move(connection, one)


def _move(connection: Connection, piece: Piece) -> None:
    level = level_of(piece.removal.removed)
    done = None if piece.is_last else piece.to_seq
    of_run = {"of_run": piece.removal.run_id}
    connection.execute(_MOVE, {**of_run, "new_level": level, "new_to": done})
