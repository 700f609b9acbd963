"""How many runs somebody has started of late: counted in the transaction of the next start.

They are counted where they stand, in ``runs``. Two starts of one principal at the same time take turns by a
row of their own in ``allowances``, so that together they never exceed what either may; where there is one
writer at a time, nobody ever waits for it.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlalchemy import BigInteger, Connection, bindparam, insert, select, type_coerce

from agent.errors import TooManyStarts
from agent.ports import StartsLimit
from agent.rules.events import RunStarted
from agent.rules.ids import Principal
from store.at_most import AT_MOST
from store.instants import microseconds
from store.now import A_TERM_AGO, NOW
from store.schema import allowances, runs

#: A start of later than this was stamped by a clock that has been set back since. It would count until the
#: clock is there again, which may be days.
_AHEAD = timedelta(minutes=1)

_OF_TURN = allowances.c.allowance_key == bindparam("of_turn")
_LOCK = select(allowances.c.allowance_key).where(_OF_TURN).with_for_update()
_INSERT = insert(allowances).values(made_up_at=NOW)
_NEWEST = (
    select(runs.c.started_at)
    .where(
        runs.c.requester == bindparam("of_requester"),
        runs.c.agent == bindparam("of_agent"),
        type_coerce(runs.c.started_at, BigInteger) > A_TERM_AGO,
        type_coerce(runs.c.started_at, BigInteger)
        < type_coerce(NOW, BigInteger) + microseconds(_AHEAD),
    )
    .order_by(runs.c.started_at.desc(), runs.c.run_id.desc())
    .limit(AT_MOST)
)


def take_turn(connection: Connection, started: RunStarted, now: datetime | None) -> None:
    """From here to the commit nobody else who takes it starts a run of this agent for this principal."""
    key = f"starts {started.agent} {started.requester}"
    if connection.execute(_LOCK, {"of_turn": key}).one_or_none() is None:
        # Who comes second to this fails, is done again, and waits at the row.
        connection.execute(_INSERT, {"allowance_key": key, "now": now})


def must_be_below(
    connection: Connection,
    requester: Principal,
    agent: str,
    limit: StartsLimit,
    now: datetime | None,
) -> None:
    """Raises ``TooManyStarts`` where they have started as many as may be. Whoever begins one asks in their turn."""
    counted = {
        "of_requester": requester,
        "of_agent": agent,
        "term": microseconds(limit.within),
        "at_most": limit.most,
        "now": now,
    }
    newest = connection.execute(_NEWEST, counted).scalars().all()
    if len(newest) >= limit.most:
        free_at = newest[-1] + limit.within
        raise TooManyStarts(requester, agent, limit.most, limit.within, free_at)
