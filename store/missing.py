"""What has to be there, for the control journal tells of its removal, and is not.

Whoever removes something of a run writes down where its journal ended, and from then on that never changes: either
the run is still there and ends so, or its tombstone says so. A tombstone that was deleted with its run leaves nothing
else to be found by.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from functools import partial
from typing import Any

from sqlalchemy import BigInteger, Connection, Integer, bindparam, select
from sqlalchemy import Row as SqlRow

from agent.errors import CorruptJournal, UnknownEvent
from agent.rules.anchors import CONTROL, Break
from agent.rules.control import RunsPurged
from agent.rules.ids import RunId
from agent.rules.purges import PurgedPart
from store.bodies import Row, read_control_body
from store.chain import Unread
from store.keys import Keys
from store.reader import Reader
from store.schema import control_journal, runs, tombstones

_PAGE = (
    select(control_journal)
    .where(control_journal.c.seq > bindparam("after", type_=BigInteger))
    .order_by(control_journal.c.seq)
    .limit(bindparam("at_most", type_=Integer))
)
#: So many ids fit into one statement everywhere.
_RUNS_AT_A_TIME = 500
_IDS = bindparam("run_ids", expanding=True)
_RUNS, _TOMBSTONES = (
    select(table.c.run_id, table.c.head_seq, table.c.head_hash).where(table.c.run_id.in_(_IDS))
    for table in (runs, tombstones)
)
#: The kind of fact that is looked for; others are not read.
_KIND = RunsPurged.model_fields["kind"].default

_Heads = Mapping[str, tuple[object, object]]


async def missing(reader: Reader, keys: Keys, at_a_time: int) -> AsyncIterator[Break]:
    """Each run once for each page of facts that name it. What can't be read of the control journal is left out: its
    chain tells. Raises ``StoreUnavailable``."""
    after = 0
    while rows := await reader.run(partial(_read, after=after, at_most=at_a_time)):
        after = rows[-1].seq
        parts = list(_parts(rows, keys).values())
        for start in range(0, len(parts), _RUNS_AT_A_TIME):
            some = parts[start : start + _RUNS_AT_A_TIME]
            for broken in await reader.run(partial(_compare, parts=some)):
                yield broken


def _read(connection: Connection, after: int, at_most: int) -> Sequence[SqlRow[Any]]:
    return connection.execute(_PAGE, {"after": after, "at_most": at_most}).all()


def _parts(rows: Sequence[SqlRow[Any]], keys: Keys) -> dict[RunId, PurgedPart]:
    """The newest of each run."""
    found: dict[RunId, PurgedPart] = {}
    for raw in rows:
        row = Row.of(CONTROL, raw, keys)
        if isinstance(row.body, Unread) or _KIND not in row.body:
            continue
        try:
            event = read_control_body(row).event
        except (CorruptJournal, UnknownEvent):
            continue
        if isinstance(event, RunsPurged):
            found |= {part.run_id: part for part in event.parts}
    return found


def _compare(connection: Connection, parts: Sequence[PurgedPart]) -> list[Break]:
    ids = {"run_ids": [part.run_id for part in parts]}
    # In this order: what goes altogether in between has its tombstone by then.
    there = _heads(connection.execute(_RUNS, ids).all())
    buried = _heads(connection.execute(_TOMBSTONES, ids).all())
    broken = (_broken(part, there, buried) for part in parts)
    return [one for one in broken if one is not None]


def _heads(rows: Sequence[SqlRow[Any]]) -> _Heads:
    return {row.run_id: (row.head_seq, row.head_hash) for row in rows}


def _broken(part: PurgedPart, there: _Heads, buried: _Heads) -> Break | None:
    run_id, ended = part.run_id, (part.head_seq, part.head_hash)
    if run_id in buried:
        # Another end than this is found where the tombstone is held against its fact.
        return None
    if part.removed == "audit":
        return Break(run_id, part.head_seq, "its tombstone is missing")
    if run_id not in there:
        return Break(
            run_id, part.head_seq, "all of it is missing, and the control journal knows of it"
        )
    if there[run_id] != ended:
        return Break(run_id, part.head_seq, "it ends elsewhere than the control journal says")
    return None
