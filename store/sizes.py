"""How much there is of everything, and how much of it would go now."""

from __future__ import annotations

import os
from collections import Counter
from datetime import datetime

from sqlalchemy import (
    BigInteger,
    Connection,
    FromClause,
    Integer,
    LargeBinary,
    Text,
    bindparam,
    cast,
    func,
    select,
    text,
    type_coerce,
)

from agent.ports.purges import Sizes
from agent.rules.purges import ALL_GONE, LEVELS, Removed, level_of
from agent.rules.retention import STATUSES, Retention
from store.instants import microseconds
from store.now import NOW
from store.schema import control_journal, journal, runs, thread_messages, tombstones

_BY_STATUS = select(runs.c.status, func.count()).group_by(runs.c.status)
_BY_LEVEL = (
    select(runs.c.purged, func.count())
    # Said so that the partial index serves.
    .where(text("runs.status <> 'active'"), runs.c.purged > 0)
    .group_by(runs.c.purged)
)
_OLDEST = select(func.min(runs.c.started_at))
_COUNT_TOMBSTONES = select(func.count()).select_from(tombstones)
_DUE = (
    select(func.count())
    .select_from(runs)
    .where(
        text("runs.status <> 'active'"),
        runs.c.status == bindparam("of_status", type_=Text),
        runs.c.purged == bindparam("of_level", type_=Integer),
        type_coerce(runs.c.updated_at, BigInteger)
        <= type_coerce(NOW, BigInteger) - bindparam("age", type_=BigInteger),
    )
)


def measure(connection: Connection, retention: Retention, now: datetime | None) -> Sizes:
    """Reads every fact's length: seconds for millions of them, and nobody waits for it."""
    by_level = dict(map(tuple, connection.execute(_BY_LEVEL)))
    # A run of which everything is going has its tombstone before its row is gone.
    by_level[ALL_GONE] = connection.execute(_COUNT_TOMBSTONES).scalar_one()
    removed: dict[Removed, int] = {name: by_level.get(level_of(name), 0) for name in LEVELS}
    events, of_events = _weigh(connection, journal)
    control_events, of_control = _weigh(connection, control_journal)
    return Sizes(
        runs=dict(map(tuple, connection.execute(_BY_STATUS))),
        removed=removed,
        events=events,
        control_events=control_events,
        messages=connection.execute(select(func.count()).select_from(thread_messages)).scalar_one(),
        bytes={"events": of_events, "control_events": of_control, **_of_database(connection)},
        oldest=connection.execute(_OLDEST).scalar(),
        due=_due(connection, retention, now),
    )


def _weigh(connection: Connection, table: FromClause) -> tuple[int, int]:
    """How many rows, and the bytes of their bodies."""
    size = func.length(cast(table.c.body, LargeBinary))
    if connection.dialect.name == "postgresql":
        size = func.octet_length(table.c.body)
    total = func.coalesce(cast(func.sum(size), BigInteger), 0)
    count, weight = connection.execute(select(func.count(), total).select_from(table)).one()
    return count, weight


def _of_database(connection: Connection) -> dict[str, int]:
    """What it takes up on its disk; of a file also what is empty, and filled again first, and what stands in the log
    next to it."""
    if connection.dialect.name == "postgresql":
        size = connection.execute(select(func.pg_database_size(func.current_database())))
        return {"database": size.scalar_one()}
    page, pages, free = (
        connection.execute(text(f"PRAGMA {name}")).scalar_one()
        for name in ("page_size", "page_count", "freelist_count")
    )
    return {"database": page * pages, "free": page * free, "log": _log_of_file(connection)}


def _log_of_file(connection: Connection) -> int:
    name = connection.engine.url.database
    try:
        return os.stat(f"{name}-wal").st_size
    except FileNotFoundError:
        return 0


def _due(connection: Connection, retention: Retention, now: datetime | None) -> dict[Removed, int]:
    """A run counts once, as that of which the most would go."""
    due: Counter[Removed] = Counter()
    for status in STATUSES:
        for level in range(len(LEVELS)):
            counted = 0
            for removed in reversed(LEVELS[level:]):
                age = retention.kept_for.get(removed, {}).get(status)
                if age is None:
                    continue
                values = {"of_status": status, "of_level": level, "age": microseconds(age)}
                of_age = connection.execute(_DUE, {**values, "now": now}).scalar_one()
                due[removed] += max(0, of_age - counted)
                counted = max(counted, of_age)
    return {removed: due[removed] for removed in LEVELS if removed in due}
