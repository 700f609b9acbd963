"""A first look at many journals at a time: what is plainly whole needs no other.

It never says of a journal that it is broken. Whatever is not plainly whole is to be looked at by itself: what was
removed, what is longer than a page, what went on meanwhile.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from functools import partial
from typing import Any

from sqlalchemy import Connection, Integer, Select, bindparam, or_, select
from sqlalchemy import Row as SqlRow

from agent.errors import CorruptJournal
from agent.ports import Checked
from agent.rules.anchors import Head
from agent.rules.ids import RunId
from agent.rules.purges import ALL_GONE
from store.bodies import Row, must_fit
from store.chain import Chain
from store.keys import Keys
from store.marks import is_vouched_for
from store.reader import Reader
from store.schema import journal, runs, tombstones

#: A run has a few facts.
_RUNS_AT_A_TIME = 100
_AT_MOST = bindparam("at_most", type_=Integer)

_RUNS: Select[Any] = (
    select(
        runs.c.run_id,
        runs.c.head_seq,
        runs.c.head_hash,
        runs.c.mark,
        runs.c.purged,
        tombstones.c.run_id.label("buried"),
    )
    .join(tombstones, tombstones.c.run_id == runs.c.run_id, isouter=True)
    # What is being removed altogether has its tombstone already. Its row's word alone takes nothing from the check.
    .where(
        runs.c.run_id > bindparam("after"),
        or_(runs.c.purged != ALL_GONE, tombstones.c.run_id.is_(None)),
    )
    .order_by(runs.c.run_id)
    .limit(_AT_MOST)
)
_FACTS: Select[Any] = (
    select(journal)
    .where(journal.c.run_id >= bindparam("first"), journal.c.run_id <= bindparam("last"))
    .order_by(journal.c.run_id, journal.c.seq)
    .limit(_AT_MOST)
)
_Looked = list[tuple[RunId, Checked | None]]


async def first_looks(
    reader: Reader, keys: Keys, at_a_time: int
) -> AsyncIterator[tuple[RunId, Checked | None]]:
    """Every run, in the order of the ids; None for what has to be looked at by itself. About ``at_a_time`` facts are in
    memory."""
    after = ""
    while looked := await reader.run(partial(_look, after=after, keys=keys, at_a_time=at_a_time)):
        for one in looked:
            yield one
        after = looked[-1][0]


def _look(connection: Connection, after: str, keys: Keys, at_a_time: int) -> _Looked:
    of_page = {"after": after, "at_most": min(_RUNS_AT_A_TIME, at_a_time)}
    heads = _fitting([*connection.execute(_RUNS, of_page)], at_a_time)
    if not heads:
        return []
    # The heads were read before: what was appended since shows as another end.
    between = {"first": heads[0].run_id, "last": heads[-1].run_id, "at_most": at_a_time}
    facts: dict[str, list[SqlRow[Any]]] = {}
    for fact in connection.execute(_FACTS, between):
        facts.setdefault(fact.run_id, []).append(fact)
    return [(RunId(one.run_id), _whole(one, facts.get(one.run_id, ()), keys)) for one in heads]


def _fitting(heads: Sequence[SqlRow[Any]], at_a_time: int) -> Sequence[SqlRow[Any]]:
    """As many as have their facts on one page; at least one."""
    left = at_a_time
    for count, head in enumerate(heads):
        left -= head.head_seq if isinstance(head.head_seq, int) else 1
        if left < 0:
            return heads[: max(count, 1)]
    return heads


def _whole(head: SqlRow[Any], facts: Sequence[SqlRow[Any]], keys: Keys) -> Checked | None:
    if head.purged != 0 or head.buried is not None or not facts:
        return None
    name, chain = head.run_id, Chain(head.run_id, key=keys.audit)
    for row in (Row.of(name, fact, keys) for fact in facts):
        if row.purged_by is not None or chain.follow(row):
            return None
        try:
            must_fit(name, row)
        except CorruptJournal:
            return None
    if chain.end(head.head_seq, head.head_hash):
        return None
    if not is_vouched_for(keys.audit, name, chain.seq, chain.hash, head.mark):
        return None
    return Checked(Head(journal=name, seq=chain.seq, hash=chain.hash), None)
