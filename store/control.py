"""The control journal: the facts that belong to no run, in one chain."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Integer, bindparam, insert, select, update
from sqlalchemy import Row as SqlRow

from agent.errors import CorruptJournal, Unstorable
from agent.rules.anchors import CONTROL
from agent.rules.control import ControlEvent, PolicyLoaded, RecordedControl, StampedControl
from store.bodies import Fact, Row, read_control_body, write_control_body
from store.chain import hash_fact
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
    .limit(bindparam("at_most", type_=Integer))
)
_NEWEST_POLICY = (
    select(control_journal)
    .where(control_journal.c.policy_of == bindparam("agent"))
    .order_by(control_journal.c.seq.desc())
    .limit(1)
)


class SqlControl:
    """The ``ControlJournal`` port."""

    def __init__(self, writer: Writer, reader: Reader) -> None:
        self._writer = writer
        self._reader = reader

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

    async def _page(self, after: int, limit: int) -> tuple[Page, bool]:
        """What stands there, and whether it is all of it."""
        # The fact that is followed, and one more, which tells whether the end has been reached.
        at_most = limit + (2 if after > 0 else 1)
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
    """Append what is not there yet."""
    seq, previous = connection.execute(_HEAD).one()
    known = set(connection.execute(_KNOWN, {"event_ids": [fact.id for fact in facts]}).scalars())
    added = []
    for fact in {fact.id: fact for fact in facts if fact.id not in known}.values():
        seq += 1
        previous = hash_fact(previous, CONTROL, seq, fact.id, fact.body)
        added.append(
            {
                "seq": seq,
                "event_id": fact.id,
                "at": fact.at,
                "hash": previous,
                "body": fact.body,
                "policy_of": fact.event.agent if isinstance(fact.event, PolicyLoaded) else None,
            }
        )
    if added:
        connection.execute(_MOVE_HEAD, {"new_seq": seq, "new_hash": previous})
        connection.execute(_INSERT, added)
