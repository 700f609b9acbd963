"""The facts of one run, as its journal has them."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, and_, bindparam, case, select

from agent.errors import CorruptJournal, NotFound
from agent.rules.ids import RunId
from agent.rules.purges import ALL_GONE
from agent.rules.recorded import Recorded
from store.bodies import Row, read_body
from store.keys import Keys
from store.lease_tables import is_fence
from store.marks import must_be_ours
from store.purged import must_not_be_purged, was_removed
from store.schema import journal, runs
from store.whole import HIGHEST, Page, first_of, whole_rows

_READ = (
    select(
        runs.c.head_seq,
        runs.c.head_hash,
        runs.c.fence,
        runs.c.purged,
        journal.c.seq,
        journal.c.event_id,
        journal.c.at,
        journal.c.hash,
        # Of the fact that what is read follows, the hash alone is needed.
        case((journal.c.seq != bindparam("after"), journal.c.body)).label("body"),
        journal.c.purged_by,
    )
    .join(
        journal,
        and_(journal.c.run_id == runs.c.run_id, journal.c.seq >= bindparam("from_seq")),
        isouter=True,
    )
    .where(runs.c.run_id == bindparam("of_run"))
    .order_by(journal.c.seq)
)


def read_facts(connection: Connection, run_id: RunId, keys: Keys, after: int = 0) -> list[Recorded]:
    """Those behind ``after``. Raises ``NotFound`` (``Purged``), ``CorruptJournal``, ``UnknownEvent``."""
    return [read_body(run_id, row) for row in read_rows(connection, run_id, keys, after)]


def read_rows(connection: Connection, run_id: RunId, keys: Keys, after: int = 0) -> Sequence[Row]:
    """The same as they stand there. Raises ``NotFound`` (``Purged``), ``CorruptJournal``."""
    from_seq = max(0, min(after, HIGHEST))
    page = _page(connection, run_id, keys, from_seq)
    while True:
        rows = whole_rows(run_id, page, after, key=keys.audit)
        must_be_ours(connection, keys.audit, run_id, page.head_seq, page.head_hash)
        gone = {row.seq: row.purged_by for row in rows if row.purged_by is not None}
        broken = was_removed(connection, run_id, gone, keys) if gone else None
        if broken is None:
            return rows
        now = _page(connection, run_id, keys, from_seq)
        if now == page:
            raise CorruptJournal(run_id, broken.seq, broken.why)
        # More of it has been removed since it was read.
        page = now


def _page(connection: Connection, run_id: RunId, keys: Keys, after: int) -> Page:
    values = {"of_run": run_id, "after": after, "from_seq": first_of(after)}
    found = connection.execute(_READ, values).all()
    # Of a run of which everything is being removed the tombstone is there already.
    if not found or found[0].purged == ALL_GONE:
        must_not_be_purged(connection, run_id)
        raise NotFound("run", run_id)
    head = found[0]
    if not is_fence(head.fence):
        raise CorruptJournal(run_id, head.head_seq, "its row has no fence of ours")
    read = keys.cipher.read
    # By their places in ``_READ``: asking a row for a name takes many times as long, for each value of a long run.
    rows = [
        Row(seq, event_id, at, hash, read(run_id, seq, body), purged_by)
        for _, _, _, _, seq, event_id, at, hash, body, purged_by in found
        if seq is not None
    ]
    return Page(head.head_seq, head.head_hash, rows)
