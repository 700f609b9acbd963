"""Journals are checked fact by fact, page by page, as they stand in the database."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from sqlalchemy import BigInteger, Connection, Integer, Select, and_, bindparam, null, or_, select
from sqlalchemy import Row as SqlRow

from agent.errors import CorruptJournal, NotFound, Unstorable
from agent.ports import Checked
from agent.rules.anchors import CONTROL, Break, Head
from agent.rules.ids import RunId
from agent.rules.purges import ALL_GONE
from store.bodies import Row, must_fit
from store.chain import NOT_REMOVED, Chain
from store.first_look import first_looks
from store.keys import NO_KEYS, Keys
from store.marks import UNMARKED, is_vouched_for, must_be_vouched_for
from store.missing import missing
from store.purge_facts import removals
from store.purged import Told, tombstone, was_removed, why_no_tombstone
from store.reader import Reader
from store.schema import control_head, control_journal, journal, runs, tombstones
from store.whole import LOWEST

_AT_A_TIME = 500
_AT_MOST = bindparam("at_most", type_=Integer)
_FROM_SEQ = bindparam("from_seq", type_=BigInteger)

_OF_RUN = (
    select(runs.c.head_seq, runs.c.head_hash, runs.c.mark, runs.c.purged, *journal.c)
    .join(
        journal, and_(journal.c.run_id == runs.c.run_id, journal.c.seq >= _FROM_SEQ), isouter=True
    )
    .where(runs.c.run_id == bindparam("of_run"))
    .order_by(journal.c.seq)
    .limit(_AT_MOST)
)
_OF_CONTROL = (
    select(
        control_head.c.head_seq,
        control_head.c.head_hash,
        null().label("mark"),
        null().label("purged"),
        *control_journal.c,
    )
    .join(control_journal, control_journal.c.seq >= _FROM_SEQ, isouter=True)
    .order_by(control_journal.c.seq)
    .limit(_AT_MOST)
)
_RUNS = (
    select(runs.c.run_id)
    # What is being removed altogether has its tombstone already. Its row's word alone takes nothing from the check.
    .where(
        runs.c.run_id > bindparam("after"),
        or_(
            runs.c.purged != ALL_GONE,
            ~select(tombstones.c.run_id).where(tombstones.c.run_id == runs.c.run_id).exists(),
        ),
    )
    .order_by(runs.c.run_id)
    .limit(_AT_MOST)
)
_TOMBSTONES = (
    select(tombstones)
    .where(tombstones.c.run_id > bindparam("after"))
    .order_by(tombstones.c.run_id)
    .limit(_AT_MOST)
)
_ORPHANS = (
    select(journal.c.run_id)
    .distinct()
    .where(
        journal.c.run_id > bindparam("after"),
        ~select(runs.c.run_id).where(runs.c.run_id == journal.c.run_id).exists(),
    )
    .order_by(journal.c.run_id)
    .limit(_AT_MOST)
)


class SqlVerifier:
    """The ``Verifier`` port. ``at_a_time``: so many rows are in memory."""

    def __init__(
        self, reader: Reader, at_a_time: int = _AT_A_TIME, *, keys: Keys = NO_KEYS
    ) -> None:
        self._reader = reader
        self._keys = keys
        self._at_a_time = at_a_time

    async def check(self, run_id: RunId, anchored: Head | None = None) -> Checked:
        return await self._check(run_id, _OF_RUN, {"of_run": run_id}, anchored)

    async def check_control(self, anchored: Head | None = None) -> Checked:
        try:
            return await self._check(CONTROL, _OF_CONTROL, {}, anchored)
        except NotFound:
            return _broken(Chain(CONTROL), Break(CONTROL, 0, "its head is missing"))

    def runs(self) -> AsyncIterator[RunId]:
        return self._ids(_RUNS)

    def first_looks(self) -> AsyncIterator[tuple[RunId, Checked | None]]:
        return first_looks(self._reader, self._keys, self._at_a_time)

    def orphans(self) -> AsyncIterator[RunId]:
        return self._ids(_ORPHANS)

    def missing(self) -> AsyncIterator[Break]:
        return missing(self._reader, self._keys, self._at_a_time)

    async def removed_behind(self, seq: int) -> int:
        pages = removals(self._reader, self._keys, seq, self._at_a_time)
        return len({part.run_id async for told in pages for part in told})

    async def check_tombstones(self, anchored: Mapping[str, Head]) -> AsyncIterator[Checked]:
        values = {"after": "", "at_most": self._at_a_time}
        look = partial(_check_tombstones, values=values, anchored=anchored, keys=self._keys)
        while page := await self._reader.run(look):
            for one in page:
                yield one
            values["after"] = page[-1].head.journal

    async def check_tombstone(self, run_id: RunId, anchored: Head | None = None) -> Checked | None:
        return await self._reader.run(lambda c: _check_tombstone(c, run_id, anchored, self._keys))

    async def _check(
        self, name: str, page: Select[Any], values: dict[str, object], anchored: Head | None
    ) -> Checked:
        chain, from_seq, is_changed = Chain(name, key=self._keys.audit), LOWEST, False
        rows = await self._rows(page, from_seq=from_seq, **values)
        while True:
            if not rows:
                raise NotFound("run", name)
            if rows[0].purged == ALL_GONE:
                # It may have been begun since somebody looked for its tombstone.
                buried = await self.check_tombstone(RunId(name), anchored)
                return buried or _broken(chain, Break(name, chain.seq + 1, NOT_REMOVED))
            facts = [Row.of(name, one, self._keys) for one in rows if one.seq is not None]
            begun_at = chain.seq, chain.hash
            for row in facts:
                if broken := _follow(name, chain, row, anchored):
                    return _broken(chain, broken)
            if gone := {row.seq: row.purged_by for row in facts if row.purged_by is not None}:
                is_changed = True
                if broken := await self._why_not_removed(name, gone):
                    now = await self._rows(page, from_seq=from_seq, **values)
                    if now == rows:
                        return _broken(chain, broken)
                    # More of it has been removed since it was read.
                    rows, chain = now, Chain(name, *begun_at, key=self._keys.audit)
                    continue
            if len(facts) < self._at_a_time:
                # The head was read together with the last facts, whatever was appended meanwhile.
                checked = _at_end(name, chain, rows[0], anchored)
                if not await self._is_vouched_for(checked, rows[0].mark):
                    return _unmarked(chain, name)
                return replace(checked, is_partly_removed=is_changed)
            from_seq = chain.seq + 1
            rows = await self._rows(page, from_seq=from_seq, **values)

    async def _is_vouched_for(self, checked: Checked, mark: object) -> bool:
        """By the audit key, where there is one, and all is marked that ended before."""
        key, head = self._keys.audit, checked.head
        if checked.broken or is_vouched_for(key, *_standing(head), mark):
            return True
        return not await self._reader.run(lambda c: must_be_vouched_for(c, key))

    async def _why_not_removed(self, name: str, gone: Mapping[int, object]) -> Break | None:
        broken = await self._reader.run(lambda c: was_removed(c, RunId(name), gone, self._keys))
        return None if broken is None else Break(name, broken.seq, broken.why)

    async def _ids(self, page: Select[Any]) -> AsyncIterator[RunId]:
        after: object = ""
        while rows := await self._rows(page, after=after):
            for row in rows:
                after = row.run_id
                # A file's column takes anything.
                yield RunId(after if isinstance(after, str) else repr(after))

    async def _rows(self, page: Select[Any], **values: object) -> Sequence[SqlRow[Any]]:
        values["at_most"] = self._at_a_time
        try:
            return await self._reader.run(lambda c: c.execute(page, values).all())
        except Unstorable:
            # Nothing has such a name.
            return ()


def _check_tombstone(
    connection: Connection, run_id: RunId, anchored: Head | None, keys: Keys
) -> Checked | None:
    row = tombstone(connection, run_id)
    return None if row is None else _check_buried(row, anchored, Told(connection, keys))


def _check_tombstones(
    connection: Connection,
    values: Mapping[str, object],
    anchored: Mapping[str, Head],
    keys: Keys,
) -> list[Checked]:
    told = Told(connection, keys)
    rows = connection.execute(_TOMBSTONES, dict(values)).all()
    return [_check_buried(row, anchored.get(row.run_id), told) for row in rows]


def _check_buried(row: SqlRow[Any], anchored: Head | None, told: Told) -> Checked:
    run_id = row.run_id
    why = why_no_tombstone(row, told)
    if why is not None:
        # Its columns may hold anything.
        seq = row.head_seq if isinstance(row.head_seq, int) and row.head_seq > 0 else 0
        gone = Head(journal=run_id, seq=seq, hash="")
        return Checked(gone, Break(run_id, seq, why), purged_at=row.purged_at)
    head = Head(journal=run_id, seq=row.head_seq, hash=row.head_hash)
    broken = None
    if anchored is not None and anchored.seq >= head.seq and anchored != head:
        broken = Break(run_id, head.seq, "its tombstone is not what the anchor knows")
    return Checked(head, broken, purged_at=row.purged_at)


def _follow(name: str, chain: Chain, row: Row, anchored: Head | None) -> Break | None:
    if broken := chain.follow(row):
        return Break(name, broken.seq, broken.why)
    try:
        must_fit(name, row)
    except CorruptJournal as error:
        return Break(name, error.seq, error.why)
    if anchored and anchored.seq == chain.seq and anchored.hash != chain.hash:
        return Break(name, chain.seq, "up to here it is not what the anchor knows")
    return None


def _at_end(name: str, chain: Chain, head: SqlRow[Any], anchored: Head | None) -> Checked:
    if broken := chain.end(head.head_seq, head.head_hash):
        return _broken(chain, Break(name, broken.seq, broken.why))
    if anchored and anchored.seq > chain.seq:
        why = f"it is missing: the anchor knows of facts up to {anchored.seq}"
        return _broken(chain, Break(name, chain.seq + 1, why))
    return Checked(Head(journal=name, seq=chain.seq, hash=chain.hash), None)


def _broken(chain: Chain, broken: Break) -> Checked:
    return Checked(Head(journal=broken.journal, seq=chain.seq, hash=chain.hash), broken)


def _standing(head: Head) -> tuple[str, int, str]:
    return head.journal, head.seq, head.hash


def _unmarked(chain: Chain, name: str) -> Checked:
    return _broken(chain, Break(name, chain.seq, UNMARKED))
