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
from store.schema import reservations, runs

#: Call, limit, amount, status.
_Kept = tuple[str, str, str, str]

_OF_RUN = reservations.c.run_id == bindparam("of_run")
# With the head, so that what is compared is of one moment; one row of nothing where there is none.
_KEPT = (
    select(
        runs.c.head_seq,
        runs.c.head_hash,
        reservations.c.call_id,
        reservations.c.limit_key,
        reservations.c.amount,
        reservations.c.status,
    )
    .join(reservations, reservations.c.run_id == runs.c.run_id, isouter=True)
    .where(runs.c.run_id == bindparam("of_run"))
)
_FORGET = delete(reservations).where(_OF_RUN)
_KEEP = insert(reservations)


def differences(connection: Connection, state: RunState) -> list[str]:
    """In words, one for each reservation. Nothing where the journal has moved on."""
    kept = _kept(connection, state)
    return [] if kept is None else _say(state.run_id, _told(state) ^ kept)


def mend(connection: Connection, state: RunState) -> list[str]:
    """Write them anew, and what is used of their limits; what had been different."""
    told, kept = _told(state), _kept(connection, state)
    if kept is None or told == kept:
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
    different = told ^ kept
    said = [
        mend_sum(connection, limit)
        for limit in sorted({limit for _, limit, _, _ in different if isinstance(limit, str)})
    ]
    return _say(state.run_id, different) + [words for words in said if words is not None]


def _told(state: RunState) -> set[_Kept]:
    return {
        (one.call_id, one.limit, write_amount(one.amount), one.status) for one in reserved(state)
    }


def _kept(connection: Connection, state: RunState) -> set[_Kept] | None:
    """None where the journal is not where ``state`` is."""
    rows = connection.execute(_KEPT, {"of_run": state.run_id}).all()
    if not rows or (rows[0].head_seq, rows[0].head_hash) != (state.seq, state.head_hash):
        return None
    return {
        (row.call_id, row.limit_key, row.amount, row.status)
        for row in rows
        if row.call_id is not None
    }


def _say(run_id: RunId, different: set[_Kept]) -> list[str]:
    return [
        f"{run_id}: what {call} has reserved of the limit {limit} is not kept as its journal says"
        # A file's columns take anything.
        for call, limit in sorted({(call, limit) for call, limit, _, _ in different}, key=str)
    ]
