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


async def removals(
    reader: Reader, keys: Keys, after: int = 0, at_a_time: int = AT_A_TIME
) -> AsyncIterator[tuple[int, list[PurgedPart]]]:
    """Behind the fact ``after``: up to which fact each page goes, and what it tells, oldest first. What can't be read
    is left out: the journal's chain tells of that. Raises ``StoreUnavailable``."""
    while rows := await reader.run(partial(_read, after=after, at_most=at_a_time)):
        after = rows[-1].seq
        yield after, [part for row in rows for part in _parts(row, keys)]


def _read(connection: Connection, after: int, at_most: int) -> Sequence[SqlRow[Any]]:
    return connection.execute(_PAGE, {"after": after, "at_most": at_most}).all()


def _parts(raw: SqlRow[Any], keys: Keys) -> Sequence[PurgedPart]:
    row = Row.of(CONTROL, raw, keys)
    if isinstance(row.body, Unread) or _KIND not in row.body:
        return ()
    try:
        event = read_control_body(row).event
    except (CorruptJournal, UnknownEvent):
        return ()
    return event.parts if isinstance(event, RunsPurged) else ()
