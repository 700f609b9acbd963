"""How much is used of limits: reserved in the transaction of a call's start, given back when its effect is
known not to have happened.

A projection of the runs' journals. Numbers are decimal, kept as text and added here, for no database may
round them; a limit's row is locked while that is done, so that two processes never exceed it together.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from decimal import Decimal, DecimalException
from functools import reduce
from typing import Any, get_args

from sqlalchemy import Connection, Row, and_, bindparam, delete, insert, select, update

from agent.errors import LimitReached, StoreError
from agent.rules.effects import word_of
from agent.rules.events import (
    ApprovalDecided,
    CallLeftUnknown,
    CallLookedUp,
    CallRefused,
    CallReturned,
    CallStarted,
    Event,
)
from agent.rules.exact import EXACT, plus
from agent.rules.ids import CallId, RunId
from agent.rules.reservations import (
    COUNTING,
    Status,
    Word,
    by_limit,
    held_after_start,
    status_after,
)
from store.schema import approvals, limits, reservations

log = logging.getLogger(__name__)

NOTHING = Decimal(0)


def _can_move(word: Word) -> bool:
    """Is there a reservation that counts before this word and not after it, or the other way round?"""
    return any(
        (status in COUNTING) != (status_after(status, word) in COUNTING)
        for status in get_args(Status)
    )


_MOVING: frozenset[Word | None] = frozenset(word for word in get_args(Word) if _can_move(word))

_OF_CALL = and_(
    reservations.c.run_id == bindparam("of_run"), reservations.c.call_id == bindparam("of_call")
)
_OF_LIMIT = limits.c.limit_key == bindparam("of_limit")
_HELD = select(reservations.c.limit_key, reservations.c.amount, reservations.c.status).where(
    _OF_CALL
)
_RESERVE = insert(reservations)
_CHANGE = (
    update(reservations)
    .where(_OF_CALL, reservations.c.limit_key == bindparam("of_limit"))
    .values(amount=bindparam("new_amount"), status=bindparam("new_status"))
)
_DROP = delete(reservations).where(_OF_CALL, reservations.c.limit_key == bindparam("of_limit"))
_CALL_OF_APPROVAL = select(approvals.c.call_id).where(
    approvals.c.approval_id == bindparam("of_approval")
)
# Locked where a database can: until the commit nobody else adds to the same sum.
_LOCK = select(limits.c.used).where(_OF_LIMIT).with_for_update()
_INSERT = insert(limits)
_SET = update(limits).where(_OF_LIMIT).values(used=bindparam("new_used"))
_AMOUNTS = select(reservations.c.amount).where(
    reservations.c.limit_key == bindparam("of_limit"), reservations.c.status.in_(sorted(COUNTING))
)


def may_move_sums(events: Iterable[Event]) -> bool:
    """Can these reserve, give back, or count again? Then rows are written that other runs write too."""
    for event in events:
        if isinstance(event, CallStarted):
            if event.reserves:
                return True
        elif word_of(event) in _MOVING:
            return True
    return False


def reserve(connection: Connection, run_id: RunId, started: CallStarted) -> None:
    """What this start asks for and the call does not have yet. Raises ``LimitReached``; whatever was
    done is then to be undone."""
    of_call = {"of_run": run_id, "of_call": started.call_id}
    before = _held(connection, of_call)
    # What was given back is reserved anew, and what is asked for no more is forgotten.
    counted = {limit: amount for limit, (amount, status) in before.items() if status in COUNTING}
    asked = by_limit(started.reserves)
    after = held_after_start(counted, started.reserves)
    for limit in sorted(before.keys() | after.keys()):
        if limit not in after:
            connection.execute(_DROP, {**of_call, "of_limit": limit})
            continue
        if missing := add(after[limit], -counted.get(limit, NOTHING), limit):
            _add(connection, run_id, limit, missing, asked[limit].max)
        if limit in before:
            _change(connection, of_call, limit, after[limit], "held")
        else:
            _reserve(connection, run_id, started.call_id, limit, after[limit])


def hear(connection: Connection, run_id: RunId, event: Event) -> None:
    """What this event says of a call's effect, for what the call has reserved."""
    word, call_id = word_of(event), _call_of(connection, event)
    if word is None or call_id is None:
        return
    of_call = {"of_run": run_id, "of_call": call_id}
    for row in sorted(connection.execute(_HELD, of_call).all()):
        try:
            _settle(connection, run_id, of_call, row, word)
        except StoreError as error:
            # What happened is recorded all the same; ``db check`` finds what was not counted.
            log.warning("%s: %s is not taken down for a limit: %s", call_id, word, error)


def _settle(
    connection: Connection,
    run_id: RunId,
    of_call: Mapping[str, str],
    row: Row[Any, Any, Any],
    word: Word,
) -> None:
    """Raises ``StoreError`` for rows that can't be read; then nothing was done."""
    limit, amount, before = row.limit_key, read_amount(row.amount, row.limit_key), _status(row)
    after = status_after(before, word)
    if before in COUNTING and after not in COUNTING:
        _add(connection, run_id, limit, -amount)
    elif before not in COUNTING and after in COUNTING:
        # It may have happened all the same, whatever others have reserved meanwhile.
        _add(connection, run_id, limit, amount)
    if after != before:
        _change(connection, of_call, limit, amount, after)


def write_amount(amount: Decimal) -> str:
    return format(amount, "f")


def read_amount(written: str, limit: str) -> Decimal:
    """Raises ``StoreError`` for what is no number."""
    try:
        amount = EXACT.create_decimal(written)
    except (DecimalException, TypeError, ValueError) as error:
        raise StoreError(f"What is used of the limit {limit} can't be read.") from error
    if not amount.is_finite():
        raise StoreError(f"What is used of the limit {limit} can't be read.")
    return amount


def add(used: Decimal, amount: Decimal, limit: str) -> Decimal:
    """Raises ``StoreError`` for a sum that would have to be rounded: no amounts of ours make one."""
    try:
        return plus(used, amount)
    except DecimalException as error:
        raise StoreError(f"What is used of the limit {limit} can't be counted.") from error


def sum_reserved(connection: Connection, limit: str) -> Decimal:
    """Of all reservations that count. Raises ``StoreError`` where one can't be read."""
    amounts = connection.execute(_AMOUNTS, {"of_limit": limit}).scalars()
    return reduce(lambda a, b: add(a, read_amount(b, limit), limit), amounts, NOTHING)


def lock(connection: Connection, limit: str) -> str | None:
    """What is written of a limit, which nobody else changes before the commit; None where nothing is."""
    return connection.execute(_LOCK, {"of_limit": limit}).scalar_one_or_none()


def set_used(connection: Connection, limit: str, used: Decimal, *, is_new: bool) -> None:
    """Of a limit that is locked, or has no row yet (``is_new``)."""
    if is_new:
        connection.execute(_INSERT, {"limit_key": limit, "used": write_amount(used)})
    else:
        connection.execute(_SET, {"of_limit": limit, "new_used": write_amount(used)})


def _add(
    connection: Connection, run_id: RunId, limit: str, amount: Decimal, max: Decimal | None = None
) -> None:
    """Add to what is used, up to ``max``. Raises ``LimitReached``.

    Without a row it is what is reserved: nothing, or the row was lost. Whoever writes one meanwhile keeps
    this transaction from doing so, and it is done again."""
    written = lock(connection, limit)
    used = sum_reserved(connection, limit) if written is None else read_amount(written, limit)
    after = add(used, amount, limit)
    if max is not None and after > max:
        raise LimitReached(run_id, limit, used, max)
    set_used(connection, limit, after, is_new=written is None)


def _held(connection: Connection, of_call: Mapping[str, str]) -> dict[str, tuple[Decimal, Status]]:
    rows = connection.execute(_HELD, of_call)
    return {row.limit_key: (read_amount(row.amount, row.limit_key), _status(row)) for row in rows}


def _status(row: Row[Any, Any, Any]) -> Status:
    """Raises ``StoreError``."""
    for status in get_args(Status):
        if row.status == status:
            known: Status = status
            return known
    raise StoreError(
        f"A reservation of the limit {row.limit_key} is {row.status}, which is nothing."
    )


def _reserve(
    connection: Connection, run_id: RunId, call_id: CallId, limit: str, amount: Decimal
) -> None:
    values = {"run_id": run_id, "call_id": call_id, "limit_key": limit, "status": "held"}
    connection.execute(_RESERVE, {**values, "amount": write_amount(amount)})


def _change(
    connection: Connection, of_call: Mapping[str, str], limit: str, amount: Decimal, status: Status
) -> None:
    new = {"new_amount": write_amount(amount), "new_status": status}
    connection.execute(_CHANGE, {**of_call, "of_limit": limit, **new})


def _call_of(connection: Connection, event: Event) -> CallId | None:
    """Which call's effect this event may say something of."""
    match event:
        case CallLookedUp() | CallLeftUnknown() | CallReturned() | CallRefused():
            return event.call_id
        case ApprovalDecided(approval_id=approval_id):
            values = {"of_approval": approval_id}
            found = connection.execute(_CALL_OF_APPROVAL, values).scalar_one_or_none()
            return None if found is None else CallId(found)
        case _:
            return None
