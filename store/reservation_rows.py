"""Whether the rows of a run's reservations are what its journal says; if not, they are written anew.

For whoever has the run's state and holds its head, so that nothing is appended meanwhile.
"""

from __future__ import annotations

from sqlalchemy import Connection, bindparam, delete, insert, select

from agent.rules.effects import reserved
from agent.rules.ids import RunId
from agent.rules.state import RunState
from store.limit_sums import mend_sum
from store.limits import write_amount
from store.schema import reservations

#: Call, limit, amount, status.
_Kept = tuple[str, str, str, str]

_OF_RUN = reservations.c.run_id == bindparam("of_run")
_KEPT = select(
    reservations.c.call_id,
    reservations.c.limit_key,
    reservations.c.amount,
    reservations.c.status,
).where(_OF_RUN)
_FORGET = delete(reservations).where(_OF_RUN)
_KEEP = insert(reservations)


def differences(connection: Connection, state: RunState) -> list[str]:
    """In words, one for each reservation."""
    return _say(state.run_id, _told(state) ^ _kept(connection, state.run_id))


def mend(connection: Connection, state: RunState) -> list[str]:
    """Write them anew, and what is used of their limits; what had been different."""
    told, kept = _told(state), _kept(connection, state.run_id)
    if told == kept:
        return []
    connection.execute(_FORGET, {"of_run": state.run_id})
    if told:
        connection.execute(
            _KEEP,
            [
                {
                    "run_id": state.run_id,
                    "call_id": call,
                    "limit_key": limit,
                    "amount": amount,
                    "status": status,
                }
                for call, limit, amount, status in sorted(told)
            ],
        )
    for limit in sorted({limit for _, limit, _, _ in told ^ kept}):
        mend_sum(connection, limit)
    return _say(state.run_id, told ^ kept)


def _told(state: RunState) -> set[_Kept]:
    return {
        (one.call_id, one.limit, write_amount(one.amount), one.status) for one in reserved(state)
    }


def _kept(connection: Connection, run_id: RunId) -> set[_Kept]:
    return {
        (row.call_id, row.limit_key, row.amount, row.status)
        for row in connection.execute(_KEPT, {"of_run": run_id})
    }


def _say(run_id: RunId, different: set[_Kept]) -> list[str]:
    return [
        f"{run_id}: what {call} has reserved of the limit {limit} is not kept as its journal says"
        for call, limit in sorted({(call, limit) for call, limit, _, _ in different})
    ]
