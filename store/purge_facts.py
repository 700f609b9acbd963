"""What the control journal tells of removals, page by page."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from functools import partial
from typing import Any

from sqlalchemy import BigInteger, Connection, Integer, bindparam, select
from sqlalchemy import Row as SqlRow

from agent.errors import CorruptJournal, UnknownEvent
from agent.rules.anchors import CONTROL
from agent.rules.control import RunsPurged
from agent.rules.purges import PurgedPart
from store.bodies import Row, read_control_body
from store.chain import Unread
from store.keys import Keys
from store.reader import Reader
from store.schema import control_journal

AT_A_TIME = 500

_PAGE = (
    select(control_journal)
    .where(control_journal.c.seq > bindparam("after", type_=BigInteger))
    .order_by(control_journal.c.seq)
    .limit(bindparam("at_most", type_=Integer))
)
#: The kind of fact that is looked for; others are not read.
_KIND = RunsPurged.model_fields["kind"].default


async def pages(
    reader: Reader, keys: Keys, after: int = 0, at_a_time: int = AT_A_TIME
) -> AsyncIterator[list[Row]]:
    """The control journal behind the fact ``after``, as it stands there, oldest first. Raises ``StoreUnavailable``."""
    while found := await reader.run(partial(_read, after=after, at_most=at_a_time)):
        after = found[-1].seq
        yield [Row.of(CONTROL, one, keys) for one in found]


async def removals(
    reader: Reader, keys: Keys, after: int = 0, at_a_time: int = AT_A_TIME
) -> AsyncIterator[list[PurgedPart]]:
    """What each page behind the fact ``after`` tells, oldest first. What can't be read is left out: the journal's chain
    tells of that. Raises ``StoreUnavailable``."""
    async for rows in pages(reader, keys, after, at_a_time):
        yield [part for row in rows for part in _readable(row)]


def parts_in(row: Row) -> Sequence[PurgedPart]:
    """What this fact says was removed; most say nothing of it. Raises ``CorruptJournal``, ``UnknownEvent``."""
    if isinstance(row.body, Unread) or _KIND not in row.body:
        return ()
    event = read_control_body(row).event
    return event.parts if isinstance(event, RunsPurged) else ()


def _readable(row: Row) -> Sequence[PurgedPart]:
    try:
        return parts_in(row)
    except (CorruptJournal, UnknownEvent):
        return ()


def _read(connection: Connection, after: int, at_most: int) -> Sequence[SqlRow[Any]]:
    return connection.execute(_PAGE, {"after": after, "at_most": at_most}).all()
