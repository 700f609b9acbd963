"""Whether each run's row says how much of it was removed, as the control journal does; if not, it is written anew.

A row that says more than is gone lets nobody append to its run; one that says less lets retention begin anew with
what is covered already. So nothing is compared with a journal of which a part is missing, or is not as it was written.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

from sqlalchemy import (
    BigInteger,
    Connection,
    Integer,
    Select,
    bindparam,
    or_,
    select,
    text,
    update,
)
from sqlalchemy import Row as SqlRow

from agent.errors import CorruptJournal
from agent.rules.anchors import CONTROL
from agent.rules.ids import RunId
from agent.rules.purges import PurgedPart, level_of
from store.approvals import IS_PENDING
from store.at_most import AT_MOST
from store.bodies import Row
from store.chain import Break, Chain
from store.keys import Keys
from store.purge_facts import pages, parts_in
from store.queued import LAST
from store.reader import Reader
from store.schema import approvals, control_head, runs, tombstones
from store.writer import Writer

_AT_A_TIME = 500

# What is going altogether has its tombstone already, and its facts go without a word.
_ROWS = (
    select(runs.c.run_id, runs.c.purged, runs.c.purged_to)
    .join(tombstones, tombstones.c.run_id == runs.c.run_id, isouter=True)
    .where(tombstones.c.run_id.is_(None))
)
_PAGE = _ROWS.where(runs.c.run_id > bindparam("after")).order_by(runs.c.run_id).limit(AT_MOST)
_OF_IDS = _ROWS.where(runs.c.run_id.in_(bindparam("run_ids", expanding=True)))
_SAYS_SO = or_(runs.c.purged != 0, runs.c.purged_to.is_not(None))
_IN_THE_WAY = (
    # Said so that the partial indexes serve.
    select(runs.c.run_id).where(text("runs.status = 'active'"), _SAYS_SO).limit(1),
    select(runs.c.run_id)
    .join(approvals, approvals.c.run_id == runs.c.run_id)
    .where(IS_PENDING, _SAYS_SO)
    .limit(1),
)
_HEAD = select(control_head.c.head_seq, control_head.c.head_hash)
# Locked where a database can: from there to the commit nothing is removed.
_LOCKED_HEAD = _HEAD.with_for_update()
_SET = (
    update(runs)
    .where(runs.c.run_id == bindparam("of_run"))
    .values(
        purged=bindparam("new_level", type_=Integer),
        purged_to=bindparam("new_to", type_=BigInteger),
    )
)


class _Gone(NamedTuple):
    """How much of a run is gone; and up to which fact, where that was begun and is not done."""

    level: object
    to_seq: object


class _Head(NamedTuple):
    """Where the control journal ends."""

    seq: object
    hash: object


_WHOLE = _Gone(0, None)


@dataclass
class _Told:
    """What the control journal tells, as far as it has been read and holds. Of every run of which something was
    removed a few words are in memory."""

    chain: Chain
    of_runs: dict[RunId, _Gone] = field(default_factory=dict)

    def follow(self, rows: Sequence[Row]) -> None:
        """On to the end of these. Raises ``CorruptJournal``, ``UnknownEvent``."""
        for row in rows:
            _must_hold(self.chain.follow(row))
            for part in parts_in(row):
                self._take(part)

    def is_at(self, head: _Head) -> bool:
        return self.chain.end(*head) is None

    def must_be_at(self, head: _Head) -> None:
        """Raises ``CorruptJournal``."""
        _must_hold(self.chain.end(*head))

    def _take(self, part: PurgedPart) -> None:
        is_done = part.removed == "audit" or part.to_seq >= part.head_seq
        self.of_runs[part.run_id] = _Gone(level_of(part.removed), None if is_done else part.to_seq)

    def wrong(self, rows: Sequence[SqlRow[Any, Any, Any]]) -> Iterator[RunId]:
        for row in rows:
            run_id = RunId(row.run_id)
            if _Gone(row.purged, row.purged_to) != self.of_runs.get(run_id, _WHOLE):
                yield run_id


class PurgeRows:
    """Compares them, and puts them right. Both raise ``CorruptJournal`` and ``UnknownEvent`` for a control journal that
    can't be followed to its end, and ``StoreUnavailable``."""

    def __init__(self, writer: Writer, reader: Reader, keys: Keys) -> None:
        self._writer = writer
        self._reader = reader
        self._keys = keys

    async def differences(self) -> list[str]:
        return [_in_words(run_id) for run_id in await self._found(self._told())]

    async def mend(self) -> list[str]:
        told = self._told()
        while found := await self._found(told):
            work = partial(_write, run_ids=found, told=told)
            if await self._writer.run(work, of=LAST):
                return [_in_words(run_id) for run_id in found]
        return []

    async def keep_anybody_from_work(self) -> bool:
        """Does the row of a run that has not ended, or of which something is still asked, say that something of it was
        removed? That is never so."""
        return await self._reader.run(
            lambda c: any(c.execute(look).first() is not None for look in _IN_THE_WAY)
        )

    def _told(self) -> _Told:
        return _Told(Chain(CONTROL, key=self._keys.audit))

    async def _found(self, told: _Told) -> list[RunId]:
        """Whose rows are wrong, all of them at one moment: nothing is held meanwhile, and whatever was removed while
        they were read is looked at again."""
        await self._follow(told)
        suspects = await self._suspects(told)
        while suspects:
            rows, head = await self._reader.run(partial(_look_again, run_ids=suspects))
            if told.is_at(head):
                return list(told.wrong(rows))
            seq = told.chain.seq
            await self._follow(told)
            if told.chain.seq == seq:
                # Nothing has come since: facts that the head knows of are gone, or it is another's.
                told.must_be_at(head)
        return []

    async def _follow(self, told: _Told) -> None:
        async for rows in pages(self._reader, self._keys, told.chain.seq):
            told.follow(rows)

    async def _suspects(self, told: _Told) -> list[RunId]:
        found: list[RunId] = []
        values: Mapping[str, object] = {"after": "", "at_most": _AT_A_TIME}
        while rows := await self._reader.run(partial(_page, values=values)):
            found += told.wrong(rows)
            values = {**values, "after": rows[-1].run_id}
        return found


def _page(connection: Connection, values: Mapping[str, object]) -> Sequence[SqlRow[Any, Any, Any]]:
    return connection.execute(_PAGE, values).all()


def _look_again(
    connection: Connection, run_ids: Sequence[RunId]
) -> tuple[Sequence[SqlRow[Any, Any, Any]], _Head]:
    """The rows, and where the control journal ended when they had been read."""
    rows = _rows_of(connection, run_ids)
    return rows, _head(connection, _HEAD)


def _head(connection: Connection, statement: Select[Any]) -> _Head:
    found = connection.execute(statement).one_or_none()
    return _Head(None, None) if found is None else _Head(*found)


def _rows_of(connection: Connection, run_ids: Sequence[RunId]) -> Sequence[SqlRow[Any, Any, Any]]:
    found: list[SqlRow[Any, Any, Any]] = []
    for start in range(0, len(run_ids), _AT_A_TIME):
        some = run_ids[start : start + _AT_A_TIME]
        found += connection.execute(_OF_IDS, {"run_ids": some}).all()
    return found


def _write(connection: Connection, run_ids: Sequence[RunId], told: _Told) -> bool:
    """False: something has been removed since it was looked at."""
    if not told.is_at(_head(connection, _LOCKED_HEAD)):
        return False
    for run_id in told.wrong(_rows_of(connection, run_ids)):
        right = told.of_runs.get(run_id, _WHOLE)
        values = {"of_run": run_id, "new_level": right.level, "new_to": right.to_seq}
        connection.execute(_SET, values)
    return True


def _in_words(run_id: RunId) -> str:
    return f"{run_id}: its row does not say how much of it was removed"


def _must_hold(broken: Break | None) -> None:
    if broken is not None:
        raise CorruptJournal(CONTROL, broken.seq, broken.why)
