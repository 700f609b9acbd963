"""What has to be there, for the control journal tells of its removal, and is not.

Whoever removes something of a run writes down where its journal ended, and from then on that never changes: either
the run is still there and ends so, or its tombstone says so. A tombstone that was deleted with its run leaves nothing
else to be found by.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from functools import partial
from typing import Any

from sqlalchemy import BindParameter, Connection, bindparam, select
from sqlalchemy import Row as SqlRow

from agent.rules.anchors import Break
from agent.rules.purges import PurgedPart
from store.keys import Keys
from store.purge_facts import removals
from store.reader import Reader
from store.schema import runs, tombstones

#: So many ids fit into one statement everywhere.
_RUNS_AT_A_TIME = 500
_IDS: BindParameter[Any] = bindparam("run_ids", expanding=True)
_RUNS, _TOMBSTONES = (
    select(table.c.run_id, table.c.head_seq, table.c.head_hash).where(table.c.run_id.in_(_IDS))
    for table in (runs, tombstones)
)
_Heads = Mapping[str, tuple[object, object]]


async def missing(reader: Reader, keys: Keys, at_a_time: int) -> AsyncIterator[Break]:
    """Each run once for each page of facts that name it. What can't be read of the control journal is left out: its
    chain tells. Raises ``StoreUnavailable``."""
    async for told in removals(reader, keys, at_a_time=at_a_time):
        newest = list({part.run_id: part for part in told}.values())
        for start in range(0, len(newest), _RUNS_AT_A_TIME):
            some = newest[start : start + _RUNS_AT_A_TIME]
            for broken in await reader.run(partial(_compare, parts=some)):
                yield broken


def _compare(connection: Connection, parts: Sequence[PurgedPart]) -> list[Break]:
    ids = {"run_ids": [part.run_id for part in parts]}
    # In this order: what goes altogether in between has its tombstone by then.
    there = _heads(connection.execute(_RUNS, ids).all())
    buried = _heads(connection.execute(_TOMBSTONES, ids).all())
    broken = (_broken(part, there, buried) for part in parts)
    return [one for one in broken if one is not None]


def _heads(rows: Sequence[SqlRow[Any, Any, Any]]) -> _Heads:
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
