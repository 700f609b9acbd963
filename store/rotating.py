"""Bring what is kept under the newest key, and mark what the audit key does not cover, a few facts at a time.

Each round has a row that says how far it is. Whoever goes on with it takes its lease, reads the next facts, and writes
them together with the new place in one transaction, under its fence: so nothing is done twice, and whoever is killed
leaves it where it was. A round that had something to rewrite is made again, until one finds nothing.

Such a round may be over while others still write with an older key. Once they do so no more all is looked through
again, before that key is said to be needed by nothing.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import timedelta
from functools import partial

from sqlalchemy import Boolean, Connection, Table, bindparam, case, func, or_, select, update

from agent.ports import Keeping, KeyStatus
from agent.rules.counted import counted
from store.cipher import begins_with
from store.clock import StoreClock
from store.instants import microseconds
from store.key_registry import (
    AUDIT,
    ENCRYPTION,
    MARKS,
    is_written_by_all,
    process_ids,
    retire_older,
)
from store.keys import Keys
from store.late_keys import BODIES, look_again
from store.lives import Lives
from store.marks import are_sealed, seal_marks
from store.now import IN_A_TERM, NOW
from store.queued import LAST
from store.reader import Reader
from store.rewriting import ROUNDS, Part, Place
from store.schema import control_journal, journal, keys, rewriting
from store.writer import Writer

log = logging.getLogger(__name__)

#: Longer than a part takes by far; so long it waits for one that was killed.
TERM = timedelta(seconds=30)

_CLAIM = (
    update(rewriting)
    .where(
        rewriting.c.kind == bindparam("of_kind"),
        rewriting.c.key_id == bindparam("of_key"),
        rewriting.c.is_done.is_(False),
        or_(
            rewriting.c.holder.is_(None),
            rewriting.c.holder == bindparam("me"),
            rewriting.c.lease_expires_at <= NOW,
        ),
    )
    .values(holder=bindparam("me"), lease_expires_at=IN_A_TERM, fence=rewriting.c.fence + 1)
    .returning(rewriting.c.journal, rewriting.c.seq, rewriting.c.found, rewriting.c.fence)
)
_IS_MINE = (
    rewriting.c.kind == bindparam("of_kind"),
    rewriting.c.fence == bindparam("of_fence"),
)
_GO_ON = (
    update(rewriting)
    .where(*_IS_MINE)
    .values(
        journal=bindparam("new_journal"),
        seq=bindparam("new_seq"),
        found=bindparam("new_found"),
        is_done=bindparam("new_done", type_=Boolean),
        # What is done is nobody's any more: when there is more to do, nobody waits for a lease to end.
        holder=case((bindparam("new_done", type_=Boolean), None), else_=rewriting.c.holder),
        lease_expires_at=IN_A_TERM,
    )
)
_ROUNDS = select(rewriting.c.kind, rewriting.c.key_id, rewriting.c.is_done)
_KEYS = select(keys.c.kind, keys.c.key_id, keys.c.is_in_use).order_by(keys.c.place.desc())


@dataclass(frozen=True, slots=True)
class _Claimed:
    place: Place
    found: int
    fence: int


class SqlRotation:
    """The ``Rotation`` port."""

    def __init__(
        self, writer: Writer, reader: Reader, clock: StoreClock, held: Keys, lives: Lives
    ) -> None:
        self._writer = writer
        self._reader = reader
        self._clock = clock
        self._keys = held
        self._lives = lives

    async def go_on(self, holder: str) -> bool:
        for kind in ROUNDS:
            if await self._go_on_with(kind, holder):
                return True
        return await self._retire()

    async def status(self) -> Keeping:
        return await self._reader.run(lambda c: _status(c, self._keys))

    async def _go_on_with(self, kind: str, holder: str) -> bool:
        """False: there is nothing of this kind to do, or somebody else does it."""
        key_id = self._key_of(kind)
        if key_id is None or not await self._reader.run(lambda c: _is_begun(c, kind, key_id)):
            return False
        claimed = await self._writer.run(lambda c: self._claim(c, kind, key_id, holder), of=LAST)
        if claimed is None:
            return False
        part = await self._reader.run(lambda c: ROUNDS[kind].read(c, self._keys, claimed.place))
        if part.unread:
            log.warning(ROUNDS[kind].complaint, counted(part.unread, ROUNDS[kind].one))
        return await self._writer.run(lambda c: self._write(c, kind, claimed, part), of=LAST)

    @property
    def _audit(self) -> bytes:
        assert self._keys.audit is not None, "whoever marks has the audit key"
        return self._keys.audit

    def _key_of(self, kind: str) -> str | None:
        if kind in MARKS:
            return None if self._keys.audit is None else AUDIT
        return self._keys.cipher.newest

    def _claim(
        self, connection: Connection, kind: str, key_id: str, holder: str
    ) -> _Claimed | None:
        values = {
            "of_kind": kind,
            "of_key": key_id,
            "me": holder,
            "now": self._clock.told(),
            "term": microseconds(TERM),
        }
        if kind in MARKS and are_sealed(connection, self._audit):
            return None  # whoever says that there is more to be marked has not got the key
        row = connection.execute(_CLAIM, values).one_or_none()
        if row is None:
            return None
        return _Claimed(Place(row.journal, row.seq), row.found, row.fence)

    def _write(self, connection: Connection, kind: str, claimed: _Claimed, part: Part) -> bool:
        found = claimed.found + len(part.rewrites)
        is_at_end = part.until is None
        place = part.until or Place("", 0)
        values = {
            "of_kind": kind,
            "of_fence": claimed.fence,
            "new_journal": place.journal,
            "new_seq": place.seq,
            "new_found": 0 if is_at_end else found,
            "new_done": is_at_end and found == 0,
            "now": self._clock.told(),
            "term": microseconds(TERM),
        }
        if connection.execute(_GO_ON, values).rowcount == 0:
            return False  # somebody else has gone on with it meanwhile
        if part.rewrites:
            connection.execute(ROUNDS[kind].write, list(part.rewrites))
        if kind in MARKS and values["new_done"]:
            seal_marks(connection, self._audit)
        return True

    async def _retire(self) -> bool:
        """Take the keys out of use that nothing is kept with any more; False: there are none."""
        if not await self._reader.run(lambda c: _may_retire(c, self._keys)):
            return False
        dead = await self._lives.dead(await self._reader.run(process_ids))
        if not await self._reader.run(
            lambda c: is_written_by_all(c, self._keys, self._clock, dead)
        ):
            return False
        if await self._is_left_behind():
            await self._writer.run(look_again, of=LAST)
            return True

        def work(connection: Connection) -> list[str]:
            if not _may_retire(connection, self._keys):
                return []
            return retire_older(connection, self._keys, self._clock, dead)

        retired = await self._writer.run(work, of=LAST)
        for key_id in retired:
            log.info("nothing is encrypted with the key %s any more: it may be taken out", key_id)
        return bool(retired)

    async def _is_left_behind(self) -> bool:
        """Is there something that is not under the newest key, and can be brought under it?"""
        for kind in BODIES:
            place: Place | None = Place("", 0)
            while place is not None:
                part = await self._reader.run(
                    partial(ROUNDS[kind].read, keys=self._keys, after=place)
                )
                if part.rewrites:
                    return True
                place = part.until
        return False


def _is_begun(connection: Connection, kind: str, key_id: str) -> bool:
    """Is there something left to do of it, for whoever has this key? It is asked before the writer is troubled."""
    return (kind, key_id, False) in {tuple(row) for row in connection.execute(_ROUNDS)}


def _may_retire(connection: Connection, held: Keys) -> bool:
    """Is everything under this key, while older ones count as in use?"""
    rounds = {tuple(row) for row in connection.execute(_ROUNDS)}
    newest = held.cipher.newest
    if newest is None or not rounds.issuperset((kind, newest, True) for kind in BODIES):
        return False
    return any(
        row.kind == ENCRYPTION and row.is_in_use and row.key_id != newest
        for row in connection.execute(_KEYS)
    )


def _status(connection: Connection, held: Keys) -> Keeping:
    """Reads every fact."""
    known = connection.execute(_KEYS).all()
    rounds = {row.kind: row.is_done for row in connection.execute(_ROUNDS)}
    ids = [row.key_id for row in known if row.kind == ENCRYPTION]
    counted = [_count(connection, table, ids) for table in (journal, control_journal)]
    facts = [sum(of_table) for of_table in zip(*counted, strict=True)]
    in_use = {row.key_id for row in known if row.is_in_use}
    return Keeping(
        keys=tuple(
            KeyStatus(id, count, id in in_use, id in held.ids)
            for id, count in zip(ids, facts[1:], strict=True)
        ),
        clear=facts[0] - sum(facts[1:]),
        is_rotating=not all(rounds.get(kind, True) for kind in BODIES),
        has_audit_key=any(row.kind == AUDIT for row in known),
        is_marking=not all(rounds.get(kind, True) for kind in MARKS),
        in_front=held.in_front,
        new_key=held.new_key,
        has_new_audit=held.has_new_audit,
    )


def _count(connection: Connection, table: Table, ids: list[str]) -> list[int]:
    """All facts, and those under each key."""
    of_keys = []
    for id in ids:
        start = begins_with(id)
        is_under_it = func.substr(table.c.body, 1, len(start)) == start
        of_keys.append(func.coalesce(func.sum(case((is_under_it, 1), else_=0)), 0))
    row = connection.execute(select(func.count(), *of_keys).select_from(table)).one()
    return [int(count) for count in row]
