"""Whether each run's row says how much of it was removed, as the control journal does; if not, it is written anew.

A row that says more than is gone lets nobody append to its run; one that says less lets retention begin anew with
what is covered already.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

from sqlalchemy import BigInteger, Connection, Integer, bindparam, or_, select, text, update
from sqlalchemy import Row as SqlRow

from agent.rules.ids import RunId
from agent.rules.purges import PurgedPart, level_of
from store.at_most import AT_MOST
from store.keys import Keys
from store.purge_facts import removals
from store.reader import Reader
from store.schema import control_head, runs, tombstones
from store.writer import LAST, Writer

_AT_A_TIME = 500

# What is going altogether has its tombstone already, and its facts go without a word.
_ROWS = (
    select(runs.c.run_id, runs.c.purged, runs.c.purged_to)
    .join(tombstones, tombstones.c.run_id == runs.c.run_id, isouter=True)
    .where(tombstones.c.run_id.is_(None))
)
_PAGE = _ROWS.where(runs.c.run_id > bindparam("after")).order_by(runs.c.run_id).limit(AT_MOST)
_OF_IDS = _ROWS.where(runs.c.run_id.in_(bindparam("run_ids", expanding=True)))
_IN_THE_WAY = (
    select(runs.c.run_id)
    # Said so that the partial index serves.
    .where(text("runs.status = 'active'"), or_(runs.c.purged != 0, runs.c.purged_to.is_not(None)))
    .limit(1)
)
_HEAD = select(control_head.c.head_seq)
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


_WHOLE = _Gone(0, None)


@dataclass
class _Told:
    """What the control journal tells, as far as it has been read. Of every run of which something was removed a few
    words are in memory."""

    seq: int = 0
    of_runs: dict[RunId, _Gone] = field(default_factory=dict)

    def take(self, part: PurgedPart) -> None:
        is_done = part.removed == "audit" or part.to_seq >= part.head_seq
        self.of_runs[part.run_id] = _Gone(level_of(part.removed), None if is_done else part.to_seq)

    def wrong(self, rows: Sequence[SqlRow[Any, Any, Any]]) -> Iterator[RunId]:
        for row in rows:
            run_id = RunId(row.run_id)
            if _Gone(row.purged, row.purged_to) != self.of_runs.get(run_id, _WHOLE):
                yield run_id


class PurgeRows:
    """Compares them, and puts them right. Both raise ``StoreUnavailable``."""

    def __init__(self, writer: Writer, reader: Reader, keys: Keys) -> None:
        self._writer = writer
        self._reader = reader
        self._keys = keys

    async def differences(self) -> list[str]:
        return [_in_words(run_id) for run_id in await self._found(_Told())]

    async def mend(self) -> list[str]:
        told = _Told()
        while found := await self._found(told):
            work = partial(_write, run_ids=found, told=told)
            if await self._writer.run(work, of=LAST):
                return [_in_words(run_id) for run_id in found]
        return []

    async def keep_anybody_from_work(self) -> bool:
        """Does the row of a run that has not ended say that something of it was removed? That is never so."""
        return await self._reader.run(lambda c: c.execute(_IN_THE_WAY).first() is not None)

    async def _found(self, told: _Told) -> list[RunId]:
        """Whose rows are wrong, all of them at one moment: nothing is held meanwhile, and whatever was removed while
        they were read is looked at again."""
        await self._follow(told)
        suspects = await self._suspects(told)
        while suspects:
            rows, seq = await self._reader.run(partial(_look_again, run_ids=suspects))
            if seq == told.seq:
                return list(told.wrong(rows))
            await self._follow(told)
        return []

    async def _follow(self, told: _Told) -> None:
        async for seq, parts in removals(self._reader, self._keys, told.seq):
            for part in parts:
                told.take(part)
            told.seq = seq

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
) -> tuple[Sequence[SqlRow[Any, Any, Any]], object]:
    """The rows, and where the control journal ended when they had been read."""
    rows = _rows_of(connection, run_ids)
    return rows, connection.execute(_HEAD).scalar()


def _rows_of(connection: Connection, run_ids: Sequence[RunId]) -> Sequence[SqlRow[Any, Any, Any]]:
    found: list[SqlRow[Any, Any, Any]] = []
    for start in range(0, len(run_ids), _AT_A_TIME):
        some = run_ids[start : start + _AT_A_TIME]
        found += connection.execute(_OF_IDS, {"run_ids": some}).all()
    return found


def _write(connection: Connection, run_ids: Sequence[RunId], told: _Told) -> bool:
    """False: something has been removed since it was looked at."""
    if connection.execute(_LOCKED_HEAD).scalar() != told.seq:
        return False
    for run_id in told.wrong(_rows_of(connection, run_ids)):
        right = told.of_runs.get(run_id, _WHOLE)
        values = {"of_run": run_id, "new_level": right.level, "new_to": right.to_seq}
        connection.execute(_SET, values)
    return True


def _in_words(run_id: RunId) -> str:
    return f"{run_id}: its row does not say how much of it was removed"
