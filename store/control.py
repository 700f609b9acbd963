"""The control journal: the facts that belong to no run, in one chain."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy import Connection, Integer, bindparam, insert, select, update
from sqlalchemy import Row as SqlRow

from agent.errors import CorruptJournal, Unstorable
from agent.rules.anchors import CONTROL
from agent.rules.control import ControlEvent, PolicyLoaded, RecordedControl, StampedControl
from agent.rules.ids import GrantId, RunId, SessionId
from agent.rules.standing import Grant, Standing, Switch, fold_standing
from store import standing
from store.at_most import AT_MOST
from store.bodies import Fact, Row, read_control_body, write_control_body
from store.chain import hash_fact
from store.clock import StoreClock
from store.reader import Reader
from store.schema import control_head, control_journal
from store.whole import HIGHEST, Page, first_of, whole_rows
from store.writer import LAST, Writer

# Locked where a database can, so that nobody else follows the same fact.
_HEAD = select(control_head.c.head_seq, control_head.c.head_hash).with_for_update()
_MOVE_HEAD = update(control_head).values(
    head_seq=bindparam("new_seq"), head_hash=bindparam("new_hash")
)
_KNOWN = select(control_journal.c.event_id).where(
    control_journal.c.event_id.in_(bindparam("event_ids", expanding=True))
)
_INSERT = insert(control_journal)
_PAGE = (
    select(control_head.c.head_seq, control_head.c.head_hash, control_journal)
    .join(control_journal, control_journal.c.seq >= bindparam("from_seq"), isouter=True)
    .order_by(control_journal.c.seq)
    .limit(AT_MOST)
)
_NEWEST_POLICY = (
    select(control_journal)
    .where(control_journal.c.policy_of == bindparam("agent"))
    .order_by(control_journal.c.seq.desc())
    .limit(1)
)


_FACTS = (
    select(control_journal)
    .where(control_journal.c.seq > bindparam("after"))
    .order_by(control_journal.c.seq)
    .limit(bindparam("at_most", type_=Integer))
)
#: So many facts are in memory at a time, however long the journal is.
PAGE = 500


class SqlControl:
    """The ``ControlJournal`` port."""

    def __init__(self, writer: Writer, reader: Reader, clock: StoreClock) -> None:
        self._writer = writer
        self._reader = reader
        self._clock = clock

    async def record(self, events: Sequence[StampedControl]) -> None:
        facts = [write_control_body(one) for one in events]
        await self._writer.run(lambda connection: _append(connection, facts), of=LAST)

    async def read(self, after: int = 0, limit: int = 100) -> list[RecordedControl]:
        after = min(after, HIGHEST)
        page, is_last = await self._page(after, limit)
        return [read_control_body(row) for row in whole_rows(CONTROL, page, after, is_last=is_last)]

    async def newest_policy(self, agent: str) -> RecordedControl | None:
        try:
            found = await self._reader.run(
                lambda c: c.execute(_NEWEST_POLICY, {"agent": agent}).one_or_none()
            )
        except Unstorable:
            return None
        return None if found is None else read_control_body(_row(found))

    async def grants_in_force(self, agent: str, run_id: RunId, session: SessionId) -> list[Grant]:
        now = self._clock.told()
        return await self._reader.run(
            lambda c: standing.grants_in_force(c, agent, run_id, session, now)
        )

    async def grants(self, after: GrantId | None = None, limit: int = 100) -> list[Grant]:
        now = self._clock.told()
        return await self._reader.run(lambda c: standing.page_of_grants(c, after, limit, now))

    async def switches(self, after: str = "", limit: int = 100) -> list[Switch]:
        return await self._reader.run(lambda c: standing.page_of_switches(c, after, limit))

    async def differences(self) -> list[str]:
        """Where the rows of grants and switches say anything else than the journal, in words. Raises
        ``CorruptJournal``, ``UnknownEvent``."""
        return await self._writer.run(lambda c: standing.differences(c, _read_standing(c)), of=LAST)

    async def rebuild(self) -> None:
        """Write the rows of grants and switches anew from the journal. Raises as ``differences``."""
        await self._writer.run(lambda c: standing.rebuild(c, _read_standing(c)), of=LAST)

    async def _page(self, after: int, limit: int) -> tuple[Page, bool]:
        """What stands there, and whether it is all of it."""
        # The fact that is followed, and one more, which tells whether the end has been reached.
        at_most = max(limit, 0) + (2 if after > 0 else 1)
        values = {"from_seq": first_of(after), "at_most": at_most}
        found = await self._reader.run(lambda c: c.execute(_PAGE, values).all())
        if not found:
            raise CorruptJournal(CONTROL, 0, "its head is missing")
        rows = [_row(one) for one in found if one.seq is not None]
        is_last = len(rows) < at_most
        page = Page(found[0].head_seq, found[0].head_hash, rows if is_last else rows[:-1])
        return page, is_last


def _row(found: SqlRow[Any]) -> Row:
    return Row(found.seq, found.event_id, found.at, found.hash, found.body)


def _append(connection: Connection, facts: Sequence[Fact[ControlEvent]]) -> None:
    """Append what is not there yet, and what follows from it."""
    seq, previous = connection.execute(_HEAD).one()
    known = set(connection.execute(_KNOWN, {"event_ids": [fact.id for fact in facts]}).scalars())
    added: list[tuple[RecordedControl, str]] = []
    for fact in {fact.id: fact for fact in facts if fact.id not in known}.values():
        seq += 1
        previous = hash_fact(previous, CONTROL, seq, fact.id, fact.body)
        added.append((RecordedControl(seq, fact.id, fact.at, previous, fact.event), fact.body))
    if added:
        connection.execute(_MOVE_HEAD, {"new_seq": seq, "new_hash": previous})
        connection.execute(_INSERT, [_values(one, body) for one, body in added])
    for one, _ in added:
        standing.project(connection, one)


def _values(one: RecordedControl, body: str) -> dict[str, Any]:
    return {
        "seq": one.seq,
        "event_id": one.id,
        "at": one.at,
        "hash": one.hash,
        "body": body,
        "policy_of": one.event.agent if isinstance(one.event, PolicyLoaded) else None,
    }


def _read_standing(connection: Connection) -> Standing:
    """What the whole journal amounts to; nobody appends to it meanwhile, where a database can lock."""
    head_seq, _ = connection.execute(_HEAD).one()
    return fold_standing(_read_all(connection, head_seq))


def _read_all(connection: Connection, head_seq: int) -> Iterator[RecordedControl]:
    seq = 0
    while rows := connection.execute(_FACTS, {"after": seq, "at_most": PAGE}).all():
        for row in rows:
            seq += 1
            if row.seq != seq:
                raise CorruptJournal(CONTROL, seq, "it is missing")
            yield read_control_body(_row(row))
    if seq < head_seq:
        raise CorruptJournal(CONTROL, seq + 1, "it is missing")
