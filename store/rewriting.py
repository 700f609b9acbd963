"""What is gone through fact by fact, or run by run, and how much of it in one go: the parts of ``store.rotating`` that
know the tables.

What is rewritten is written only where it still is what was read: whoever deleted or changed it meanwhile is right.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import (
    BigInteger,
    Connection,
    Select,
    Text,
    Update,
    bindparam,
    select,
    tuple_,
    update,
)

from agent.errors import CorruptJournal, NotFound
from agent.rules.anchors import CONTROL
from agent.rules.ids import RunId
from store.at_most import AT_MOST
from store.bodies import must_fit
from store.chain import Unread, is_keyed
from store.cipher import key_of
from store.keys import Keys
from store.marks import mark
from store.reading import read_rows
from store.schema import control_journal, journal, runs

AT_A_TIME = 200
#: Of each run that is to be marked all facts are read.
_RUNS_AT_A_TIME = 20

_AFTER_SEQ = bindparam("after_seq", type_=BigInteger)
_CONTROL = (
    select(control_journal.c.seq, control_journal.c.body)
    .where(control_journal.c.seq > _AFTER_SEQ)
    .order_by(control_journal.c.seq)
    .limit(AT_MOST)
)
_WRITE_CONTROL = (
    update(control_journal)
    .where(
        control_journal.c.seq == bindparam("of_seq"),
        control_journal.c.body == bindparam("old_body"),
    )
    .values(body=bindparam("new_body"))
)
_RUNS = (
    select(journal.c.run_id, journal.c.seq, journal.c.body)
    .where(
        tuple_(journal.c.run_id, journal.c.seq)
        > tuple_(bindparam("after_run", type_=Text), _AFTER_SEQ)
    )
    .order_by(journal.c.run_id, journal.c.seq)
    .limit(AT_MOST)
)
_WRITE_RUN = (
    update(journal)
    .where(
        journal.c.run_id == bindparam("of_run"),
        journal.c.seq == bindparam("of_seq"),
        journal.c.body == bindparam("old_body"),
    )
    .values(body=bindparam("new_body"))
)
_HEADS = (
    select(runs.c.run_id, runs.c.head_seq, runs.c.head_hash, runs.c.mark)
    .where(runs.c.run_id > bindparam("after_run"))
    .order_by(runs.c.run_id)
    .limit(AT_MOST)
)
_WRITE_MARK = (
    update(runs)
    .where(
        runs.c.run_id == bindparam("of_run"),
        runs.c.head_seq == bindparam("seen_seq"),
        runs.c.head_hash == bindparam("seen_hash"),
    )
    .values(mark=bindparam("new_mark"))
)


@dataclass(frozen=True, slots=True)
class Place:
    """How far it has been gone: behind this fact, or this run."""

    journal: str
    seq: int


@dataclass(frozen=True, slots=True)
class Part:
    """Some of it: the values of the statement that rewrites what has to be, and where it ends; None at the end."""

    rewrites: Sequence[Mapping[str, object]]
    until: Place | None
    #: What could not be read: it stays as it is.
    unread: int = 0


@dataclass(frozen=True, slots=True)
class Round:
    """One way to go through the tables."""

    page: Select[Any]
    write: Update
    look: Callable[[Connection, Keys, Sequence[Any]], Part]
    #: What is said of those that could not be read, and what one of them is.
    complaint: str = "left as it is, as it can't be read: %s. See pilothouse verify"
    one: str = "fact"
    at_a_time: int = AT_A_TIME

    def read(self, connection: Connection, keys: Keys, after: Place) -> Part:
        values = {"after_run": after.journal, "after_seq": after.seq, "at_most": self.at_a_time}
        return self.look(connection, keys, connection.execute(self.page, values).all())


def _look_at_control(connection: Connection, keys: Keys, rows: Sequence[Any]) -> Part:
    return _look_at_bodies(keys, [(CONTROL, row.seq, row.body) for row in rows])


def _look_at_runs(connection: Connection, keys: Keys, rows: Sequence[Any]) -> Part:
    return _look_at_bodies(keys, [(row.run_id, row.seq, row.body) for row in rows])


def _look_at_bodies(keys: Keys, rows: Sequence[tuple[Any, int, object]]) -> Part:
    rewrites: list[Mapping[str, object]] = []
    unread = 0
    for name, seq, kept in rows:
        if key_of(kept) == keys.cipher.newest:
            continue
        if not isinstance(name, str):
            # A file's column takes anything: it is bound to no journal.
            unread += 1
            continue
        body = keys.cipher.read(name, seq, kept)
        if isinstance(body, Unread):
            unread += 1
        else:
            new = keys.cipher.keep(name, seq, body)
            values = {"of_seq": seq, "old_body": kept, "new_body": new}
            rewrites.append(values if name == CONTROL else {"of_run": name, **values})
    return Part(rewrites, Place(*rows[-1][:2]) if len(rows) == AT_A_TIME else None, unread)


def _look_at_heads(connection: Connection, keys: Keys, rows: Sequence[Any]) -> Part:
    assert keys.audit is not None, "whoever marks has the audit key"
    rewrites: list[Mapping[str, object]] = []
    broken = 0
    for row in rows:
        if is_keyed(row.head_hash):
            continue
        made = mark(keys.audit, row.run_id, row.head_seq, row.head_hash)
        if made == row.mark:
            continue
        if not _is_whole(connection, keys, row.run_id):
            broken += 1
            continue
        values = {"of_run": row.run_id, "seen_seq": row.head_seq, "seen_hash": row.head_hash}
        rewrites.append({**values, "new_mark": made})
    until = Place(rows[-1].run_id, 0) if len(rows) == _RUNS_AT_A_TIME else None
    return Part(rewrites, until, broken)


def _is_whole(connection: Connection, keys: Keys, run_id: RunId) -> bool:
    """Does its chain hold as it stands? The key vouches for nothing else."""
    try:
        for row in read_rows(connection, run_id, keys):
            must_fit(run_id, row)
    except NotFound:
        # All of it is being removed: what is left of it has a tombstone.
        return True
    except CorruptJournal:
        return False
    return True


ROUNDS: Mapping[str, Round] = {
    "control": Round(_CONTROL, _WRITE_CONTROL, _look_at_control),
    "runs": Round(_RUNS, _WRITE_RUN, _look_at_runs),
    "marks": Round(
        _HEADS,
        _WRITE_MARK,
        _look_at_heads,
        "given no mark of the audit key, as it is not what was written: %s. See pilothouse verify",
        "run",
        _RUNS_AT_A_TIME,
    ),
}
