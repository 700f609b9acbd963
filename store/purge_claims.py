"""Of which runs something may go by their age, and who is at them: the longest at rest first, by an index."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import (
    BigInteger,
    Connection,
    Integer,
    Row,
    Select,
    Text,
    bindparam,
    or_,
    select,
    text,
    tuple_,
    type_coerce,
    update,
)

from agent.ports.purges import Candidate
from agent.rules.ids import RunId
from agent.rules.purges import removed_at
from agent.rules.retention import Retention
from store.at_most import AT_MOST
from store.instants import EPOCH, Instant, microseconds
from store.now import NOW
from store.schema import runs

#: Whoever has claimed them is at them for so long; then others look.
CLAIMED_FOR = timedelta(minutes=1)

_IS_NOT_LEFT_ALONE = or_(runs.c.spared_until.is_(None), runs.c.spared_until <= NOW)
CANDIDATE = (runs.c.run_id, runs.c.head_seq, runs.c.purged, runs.c.purged_to)
ALL_BEGUN: Select[Any] = (
    select(*CANDIDATE).where(runs.c.purged_to.is_not(None)).order_by(runs.c.run_id)
)
_BEGUN: Select[Any] = (
    ALL_BEGUN.where(_IS_NOT_LEFT_ALONE).limit(AT_MOST).with_for_update(skip_locked=True)
)
_IS_OF_AGE = type_coerce(runs.c.updated_at, BigInteger) <= type_coerce(NOW, BigInteger) - bindparam(
    "age", type_=BigInteger
)
_OF_AGE: Select[Any] = (
    select(*CANDIDATE)
    .where(
        # Said so that the partial index serves.
        text("runs.status <> 'active'"),
        runs.c.status == bindparam("of_status", type_=Text),
        runs.c.purged == bindparam("of_level", type_=Integer),
        _IS_OF_AGE,
        runs.c.purged_to.is_(None),
    )
    # As they stand in the index: so neither is sorted, nor looked through for the other.
    .order_by(runs.c.spared_until, runs.c.updated_at, runs.c.run_id)
    .limit(AT_MOST)
)
#: Those that nobody has looked at yet, and those that are to be looked at again.
DUE: Select[Any] = _OF_AGE.where(runs.c.spared_until.is_(None))
DUE_AGAIN: Select[Any] = _OF_AGE.where(runs.c.spared_until <= NOW)
_PLACE = (runs.c.spared_until, runs.c.updated_at, runs.c.run_id)
_BEHIND = tuple(bindparam(f"after_{one.name}", type_=one.type) for one in _PLACE)
#: Of age, behind one of them: whether they were looked at or not.
DUE_BEHIND: tuple[Select[Any], ...] = (
    DUE.add_columns(*_PLACE).where(tuple_(*_PLACE[1:]) > tuple_(*_BEHIND[1:])),
    _OF_AGE.add_columns(*_PLACE).where(tuple_(*_PLACE) > tuple_(*_BEHIND)),
)
FIRST: Mapping[str, object] = {
    "after_spared_until": EPOCH,
    "after_updated_at": EPOCH,
    "after_run_id": "",
}
_CLAIMS = tuple(one.with_for_update(skip_locked=True) for one in (DUE, DUE_AGAIN))
_OF_IDS = runs.c.run_id.in_(bindparam("run_ids", expanding=True))
_LEAVE_ALONE = (
    update(runs)
    .where(_OF_IDS)
    .values(
        spared_until=type_coerce(
            type_coerce(NOW, BigInteger) + bindparam("span", type_=BigInteger), Instant
        )
    )
)


def claim(
    connection: Connection, retention: Retention, limit: int, now: datetime | None
) -> list[Candidate]:
    """Up to ``limit``; nobody else claims them for ``CLAIMED_FOR``."""
    rows: list[Row[Any]] = list(connection.execute(_BEGUN, {"at_most": limit, "now": now}).all())
    for status, level, age in retention.steps():
        values = {"of_status": status, "of_level": level, "age": microseconds(age), "now": now}
        for due in _CLAIMS:
            if at_most := limit - len(rows):
                rows += connection.execute(due, {**values, "at_most": at_most}).all()
    found = list(map(candidate, rows))
    if found:
        leave_alone(connection, [one.run_id for one in found], CLAIMED_FOR, now)
    return found


def place_of(row: Row[Any]) -> Mapping[str, object]:
    """Where the next of ``DUE_BEHIND`` stand."""
    return {f"after_{one.name}": getattr(row, one.name) for one in _PLACE}


def candidate(row: Row[Any]) -> Candidate:
    begun = None if row.purged_to is None else removed_at(row.purged)
    return Candidate(RunId(row.run_id), row.head_seq, begun)


def leave_alone(
    connection: Connection, run_ids: Sequence[RunId], span: timedelta, now: datetime | None
) -> None:
    """Nobody claims them for so long."""
    values = {"run_ids": list(run_ids), "span": microseconds(span), "now": now}
    connection.execute(_LEAVE_ALONE, values)
