"""The control journal: the facts that belong to no run, in one chain."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import BigInteger, Connection, bindparam, func, insert, select, update
from sqlalchemy import Row as SqlRow

from agent.errors import CorruptJournal, Unstorable
from agent.rules.anchors import CONTROL
from agent.rules.control import (
    ControlEvent,
    RecordedControl,
    StampedControl,
    can_change_verdicts,
)
from agent.rules.ids import GrantId, RunId, SessionId
from agent.rules.standing import Grant, Switch
from store import halted, standing, standing_rows
from store.at_most import AT_MOST
from store.bodies import Fact, Row, read_control_body, write_control_body
from store.clock import StoreClock
from store.control_facts import BEFORE, IS_BEFORE, PREVIOUS, names_in, whole_fact
from store.keys import Keys
from store.late_keys import bring_along_if_late
from store.marks import control_must_be_ours
from store.queued import LAST
from store.reader import Reader
from store.schema import control_head, control_journal
from store.verdicts import VERDICT_SEQ, change_verdicts
from store.whole import HIGHEST, LOWEST, Page, first_of, whole_rows
from store.writer import Writer

# Locked where a database can, so that nobody else follows the same fact.
_HEAD = select(control_head.c.head_seq, control_head.c.head_hash).with_for_update()
_MOVE_HEAD = update(control_head).values(
    head_seq=bindparam("new_seq"),
    head_hash=bindparam("new_hash"),
    verdict_seq=func.coalesce(
        bindparam("new_verdict_seq", type_=BigInteger), control_head.c.verdict_seq
    ),
)
_KNOWN = select(control_journal.c.event_id).where(
    control_journal.c.event_id.in_(bindparam("event_ids", expanding=True))
)
_INSERT = insert(control_journal)
_VERDICTS = VERDICT_SEQ.add_columns(control_head.c.head_seq, control_head.c.head_hash)
_PAGE = (
    select(control_head.c.head_seq, control_head.c.head_hash, control_journal)
    .join(control_journal, control_journal.c.seq >= bindparam("from_seq"), isouter=True)
    .order_by(control_journal.c.seq)
    .limit(AT_MOST)
)
_NEWEST_POLICY = (
    select(control_journal, PREVIOUS)
    .join(BEFORE, IS_BEFORE, isouter=True)
    .where(control_journal.c.policy_of == bindparam("agent"))
    .order_by(control_journal.c.seq.desc())
    .limit(1)
)

#: So many facts are in memory at a time, however long the journal is.
PAGE = 500


class SqlControl:
    """The ``ControlJournal`` port."""

    def __init__(self, writer: Writer, reader: Reader, clock: StoreClock, keys: Keys) -> None:
        self._writer = writer
        self._reader = reader
        self._clock = clock
        self._keys = keys
        #: The switches that are on, and the ``verdict_seq`` as it was before they were looked up.
        self._on: tuple[int, Sequence[Switch]] | None = None

    async def record(self, events: Sequence[StampedControl]) -> None:
        facts = [write_control_body(one, self._keys) for one in events]

        def work(connection: Connection) -> None:
            if change_them(facts):
                change_verdicts(connection)
            append_facts(connection, facts)

        await self._writer.run_until_known(work, of=LAST)

    async def read(self, after: int = 0, limit: int = 100) -> list[RecordedControl]:
        after = min(after, HIGHEST)
        page, is_last = await self._page(after, limit)
        rows = whole_rows(CONTROL, page, after, key=self._keys.audit, is_last=is_last)
        return [read_control_body(row) for row in rows]

    async def verdict_seq(self) -> int:
        return await self._reader.run(self._verdict_seq)

    async def newest_policy(self, agent: str) -> RecordedControl | None:
        try:
            found = await self._reader.run(
                lambda c: c.execute(_NEWEST_POLICY, {"agent": agent}).one_or_none()
            )
        except Unstorable:
            return None
        return None if found is None else whole_fact(found, self._keys)

    async def grants_in_force(self, agent: str, run_id: RunId, session: SessionId) -> list[Grant]:
        now = self._clock.told()
        return await self._reader.run(
            lambda c: standing.grants_in_force(c, agent, run_id, session, now, self._keys)
        )

    async def grants(self, after: GrantId | None = None, limit: int = 100) -> list[Grant]:
        now = self._clock.told()
        return await self._reader.run(
            lambda c: standing.page_of_grants(c, after, limit, now, self._keys)
        )

    async def switches(self, after: str = "", limit: int = 100) -> list[Switch]:
        return await self._reader.run(
            lambda c: standing.page_of_switches(c, after, limit, self._keys)
        )

    async def switches_on(self) -> tuple[int, Sequence[Switch]]:
        seq = await self.verdict_seq()
        if self._on is None or self._on[0] != seq:
            self._on = (seq, [one for one in await self._all_switches() if one.is_on])
        return self._on

    def _verdict_seq(self, connection: Connection) -> int:
        found = connection.execute(_VERDICTS).one_or_none()
        if found is None:
            raise CorruptJournal(CONTROL, 0, "its head is missing")
        # Whatever starts is judged by what stands there.
        control_must_be_ours(connection, self._keys.audit, found.head_seq, found.head_hash)
        if not isinstance(found.verdict_seq, int):
            why = "its head does not tell of the newest fact that can change a verdict"
            raise CorruptJournal(CONTROL, 0, why)
        return found.verdict_seq

    async def _all_switches(self) -> list[Switch]:
        found: list[Switch] = []
        while page := await self.switches(found[-1].name if found else "", PAGE):
            found += page
            if len(page) < PAGE:
                break
        return found

    async def wake_released(self, limit: int, *, with_windows: bool = False) -> int:
        values = {"at_most": limit, "now": self._clock.told(), "with_windows": with_windows}
        return await self._writer.run(lambda c: halted.wake(c, values), of=LAST)

    async def differences(self) -> list[str]:
        """Where the rows of grants and switches say anything else than the journal, in words. Raises
        ``CorruptJournal``, ``UnknownEvent``."""
        return await self._compare(standing_rows.Followed(self._keys))

    async def mend(self, *, at_sight: bool = False) -> list[str]:
        if at_sight and not await self._reader.run(
            lambda c: standing_rows.seem_changed(c, self._keys)
        ):
            return []
        followed = standing_rows.Followed(self._keys)
        while found := await self._compare(followed):
            if await self._writer.run(lambda c: _write_rows(c, followed), of=LAST):
                return found
        return []

    async def _compare(self, followed: standing_rows.Followed) -> list[str]:
        """Nothing is held meanwhile: where the journal has moved on, it is followed on."""
        while True:
            await self._follow(followed)
            found = await self._reader.run(lambda c: standing_rows.differences(c, followed))
            if found is not None:
                return found

    async def _follow(self, followed: standing_rows.Followed) -> None:
        """To the end, as it is now."""
        while True:
            seq = followed.chain.seq
            found = await self._rows(seq + 1 if seq else LOWEST, PAGE)
            rows = [one for one in found if one.seq is not None]
            followed.take(rows)
            if len(rows) < PAGE:
                followed.end(found[0].head_seq, found[0].head_hash)
                return

    async def _page(self, after: int, limit: int) -> tuple[Page, bool]:
        """What stands there, and whether it is all of it."""
        # The fact that is followed, and one more, which tells whether the end has been reached.
        at_most = max(limit, 0) + (2 if after > 0 else 1)
        found = await self._rows(first_of(after), at_most)
        rows = [Row.of(CONTROL, one, self._keys) for one in found if one.seq is not None]
        is_last = len(rows) < at_most
        page = Page(found[0].head_seq, found[0].head_hash, rows if is_last else rows[:-1])
        return page, is_last

    async def _rows(self, from_seq: int, at_most: int) -> Sequence[SqlRow[Any]]:
        """Each with the head; one of the head alone where there is no fact."""
        values = {"from_seq": from_seq, "at_most": at_most}
        found = await self._reader.run(lambda c: c.execute(_PAGE, values).all())
        if not found:
            raise CorruptJournal(CONTROL, 0, "its head is missing")
        return found


def change_them(facts: Sequence[Fact[ControlEvent]]) -> bool:
    """Can any of these change a verdict?"""
    return any(can_change_verdicts(fact.event) for fact in facts)


def append_facts(connection: Connection, facts: Sequence[Fact[ControlEvent]]) -> int:
    """Append what is not there yet, and what follows from it; where the journal ends then."""
    seq, previous = connection.execute(_HEAD).one()
    if facts:
        control_must_be_ours(connection, facts[0].keys.audit, seq, previous)
    known = set(connection.execute(_KNOWN, {"event_ids": [fact.id for fact in facts]}).scalars())
    added: list[tuple[RecordedControl, str]] = []
    for fact in {fact.id: fact for fact in facts if fact.id not in known}.values():
        seq += 1
        previous = fact.hash_behind(previous, CONTROL, seq)
        one = RecordedControl(seq, fact.id, fact.at, previous, fact.event)
        added.append((one, fact.kept(CONTROL, seq)))
    if added:
        newest = max((one.seq for one, _ in added if can_change_verdicts(one.event)), default=None)
        values = {"new_seq": seq, "new_hash": previous, "new_verdict_seq": newest}
        connection.execute(_MOVE_HEAD, values)
        connection.execute(_INSERT, [_values(one, body) for one, body in added])
        bring_along_if_late(connection, facts[0].keys)
    for one, _ in added:
        standing.project(connection, one)
    return int(seq)


def _values(one: RecordedControl, body: str) -> dict[str, Any]:
    return {
        "seq": one.seq,
        "event_id": one.id,
        "at": one.at,
        "hash": one.hash,
        "body": body,
        **names_in(one.event),
    }


def _write_rows(connection: Connection, followed: standing_rows.Followed) -> bool:
    """From here to the commit nobody appends; False: somebody has, since it was followed."""
    if not followed.is_at(connection.execute(_HEAD).one()):
        return False
    standing_rows.write(connection, followed)
    return True
