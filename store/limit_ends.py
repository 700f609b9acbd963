"""What runs used of limits goes with them, once it counts no more: sums stay those of what is reserved, and a limit of
which nothing is used any more has no row."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Sequence

from sqlalchemy import Connection, bindparam, delete, select

from agent.errors import StoreError
from agent.rules.reservations import COUNTING
from store.limits import NOTHING, add, lock, read_amount, set_used
from store.schema import limits, reservations

log = logging.getLogger(__name__)

_OF_RUNS = reservations.c.run_id.in_(bindparam("run_ids", expanding=True))
_RESERVED = select(reservations.c.limit_key, reservations.c.amount, reservations.c.status).where(
    _OF_RUNS
)
_FORGET = delete(reservations).where(_OF_RUNS)
_DROP = delete(limits).where(limits.c.limit_key == bindparam("of_limit"))


def take_out(connection: Connection, run_ids: Sequence[str]) -> None:
    """All that these runs reserved. It is taken off, not added up anew: others may have reserved of the same limit
    a million times."""
    of_runs = {"run_ids": list(run_ids)}
    counting: dict[str, list[str]] = defaultdict(list)
    for row in connection.execute(_RESERVED, of_runs):
        if not isinstance(row.limit_key, str):
            continue  # A file's column takes anything. No limit is called so.
        # Also of a limit in which none of it counts any more: its row may be left over.
        amounts = counting[row.limit_key]
        if row.status in COUNTING:
            amounts.append(row.amount)
    connection.execute(_FORGET, of_runs)
    # In one order, so that nobody waits for who waits for them.
    for limit in sorted(counting):
        _take_off(connection, limit, counting[limit])


def _take_off(connection: Connection, limit: str, amounts: Sequence[str]) -> None:
    written = lock(connection, limit)
    if written is None:
        return
    try:
        left = read_amount(written, limit)
        for amount in amounts:
            left = add(left, -read_amount(amount, limit), limit)
    except StoreError as error:
        # Its window is over, so that nobody is let through by it; ``db check`` says that it is wrong.
        log.warning("what is used of a limit stays as it is written: %s", error)
        return
    if left == NOTHING:
        connection.execute(_DROP, {"of_limit": limit})
    elif amounts:
        set_used(connection, limit, left, is_new=False)
