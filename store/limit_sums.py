"""What is used of limits; whether that is the sum of what their reservations hold; if not, it is written
anew.

The first look is at rows that others change meanwhile, page by page; whatever seems wrong is looked at
again: in one statement, or, to be mended, with its limit locked.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from decimal import Decimal
from functools import partial, reduce
from typing import Any

from sqlalchemy import Connection, Integer, Row, Text, bindparam, null, select, tuple_, union_all

from agent.errors import StoreError
from agent.rules.reservations import COUNTING
from store.limits import NOTHING, add, lock, read_amount, set_used, sum_reserved, write_amount
from store.queued import LAST
from store.reader import Reader
from store.schema import limits, reservations
from store.writer import Writer

PAGE = 500

_COUNTS = reservations.c.status.in_(sorted(COUNTING))
_KEY = (reservations.c.run_id, reservations.c.call_id, reservations.c.limit_key)
_AT_MOST = bindparam("at_most", type_=Integer)
# A file's columns take anything, and whatever stands there is gone past: so these are no names.
_BEHIND = [bindparam(name, type_=Text) for name in ("run", "call", "limit")]
_RESERVATIONS = (
    select(*_KEY, reservations.c.amount)
    .where(_COUNTS, tuple_(*_KEY) > tuple_(*_BEHIND))
    .order_by(*_KEY)
    .limit(_AT_MOST)
)
_LIMITS = (
    select(limits.c.limit_key, limits.c.used)
    .where(limits.c.limit_key > bindparam("after", type_=Text))
    .order_by(limits.c.limit_key)
    .limit(_AT_MOST)
)
_USED = select(limits.c.limit_key, limits.c.used).where(
    limits.c.limit_key.in_(bindparam("limit_keys", expanding=True))
)
_OF_LIMIT = bindparam("of_limit", type_=Text)
# What is written of it, and each amount that is reserved: both as they are at one moment, and nothing is locked.
_BOTH = union_all(
    select(limits.c.used, null().label("amount")).where(limits.c.limit_key == _OF_LIMIT),
    select(null(), reservations.c.amount).where(reservations.c.limit_key == _OF_LIMIT, _COUNTS),
)

_Look = Callable[[str], Awaitable[str | None]]


class SqlLimits:
    """The ``Limits`` port."""

    def __init__(self, writer: Writer, reader: Reader) -> None:
        self._writer = writer
        self._reader = reader

    async def used(self, limits: Collection[str]) -> dict[str, Decimal]:
        values = {"limit_keys": list(limits)}
        rows = await self._reader.run(lambda c: c.execute(_USED, values).all())
        found = {row.limit_key: read_amount(row.used, row.limit_key) for row in rows}
        # Without a row nothing was ever reserved, or the row was lost.
        for limit in set(limits) - found.keys():
            found[limit] = await self._reader.run(partial(sum_reserved, limit=limit))
        return {limit: found[limit] for limit in limits}

    async def differences(self) -> list[str]:
        """Of which limits something else is said to be used than is reserved, in words."""

        async def compare(limit: str) -> str | None:
            return await self._reader.run(partial(compare_sum, limit=limit))

        return await self._look(compare)

    async def mend(self, *, rest: float = 0.0) -> list[str]:
        async def mend(limit: str) -> str | None:
            return await self._writer.run(partial(mend_sum, limit=limit), of=LAST)

        return await self._look(mend, rest)

    async def _look(self, look: _Look, rest: float = 0.0) -> list[str]:
        found: list[str | None] = []
        for limit in await self._suspects(rest):
            if isinstance(limit, str):
                found.append(await look(limit))
            else:
                found.append(f"limit {limit!r}: this is no name; nothing is counted by it")
        return [words for words in found if words is not None]

    async def _suspects(self, rest: float) -> list[object]:
        sums = await self._sum_all(rest)
        used = await self._reader.run(lambda c: dict(_all_used(c)))
        found: list[object] = [
            limit
            for limit in sums.keys() | used.keys()
            if (said := used.get(limit, NOTHING)) is None or said != sums.get(limit, NOTHING)
        ]
        return sorted(found, key=str)

    async def _sum_all(self, rest: float) -> dict[str, Decimal | None]:
        """None for what can't be counted."""
        sums: dict[str, Decimal | None] = {}
        last: dict[str, object] = {"run": "", "call": "", "limit": "", "at_most": PAGE}
        while rows := await self._reader.run(partial(_page, place=last)):
            for run, call, limit, amount in rows:
                sums[limit] = _plus(sums.get(limit, NOTHING), amount, limit)
                last |= {"run": run, "call": call, "limit": limit}
            await asyncio.sleep(rest)
        return sums


def _page(connection: Connection, place: Mapping[str, object]) -> Sequence[Row[Any, Any, Any, Any]]:
    return connection.execute(_RESERVATIONS, place).all()


def _plus(before: Decimal | None, amount: str, limit: str) -> Decimal | None:
    try:
        return None if before is None else add(before, read_amount(amount, limit), limit)
    except StoreError:
        return None


def _all_used(connection: Connection) -> Iterator[tuple[str, Decimal | None]]:
    after = ""
    while rows := connection.execute(_LIMITS, {"after": after, "at_most": PAGE}).all():
        for after, written in rows:
            yield after, _read(written, after)


def compare_sum(connection: Connection, limit: str) -> str | None:
    """What is wrong with this limit; None: nothing is."""
    rows = connection.execute(_BOTH, {"of_limit": limit}).all()
    written = next((row.used for row in rows if row.used is not None), None)
    amounts = (row.amount for row in rows if row.amount is not None)
    try:
        reserved = reduce(lambda a, b: add(a, read_amount(b, limit), limit), amounts, NOTHING)
    except StoreError:
        return _uncounted(limit)
    return _difference(limit, written, reserved)


def mend_sum(connection: Connection, limit: str) -> str | None:
    """What was wrong with this limit, which nobody else changes before the commit; it is right afterwards."""
    try:
        written, reserved = _look_at_both(connection, limit)
    except StoreError:
        return _uncounted(limit)
    difference = _difference(limit, written, reserved)
    if difference is not None:
        set_used(connection, limit, reserved, is_new=written is None)
    return difference


def _uncounted(limit: str) -> str:
    # It may be another run's, which is mended by itself; until then nothing better is known.
    return f"limit {limit}: what is reserved can't be counted; what is used is left as it is"


def _difference(limit: str, written: str | None, reserved: Decimal) -> str | None:
    used = NOTHING if written is None else _read(written, limit)
    if used == reserved:
        return None
    said = "what is no number" if used is None else write_amount(used)
    return f"limit {limit}: {said} is said to be used, {write_amount(reserved)} is reserved"


def _look_at_both(connection: Connection, limit: str) -> tuple[str | None, Decimal]:
    """What is written of a limit, and what is reserved of it, at one moment. Without a row there is
    nothing to lock: one that came in between is then looked at again."""
    written, reserved = lock(connection, limit), sum_reserved(connection, limit)
    if written is None and (written := lock(connection, limit)) is not None:
        reserved = sum_reserved(connection, limit)
    return written, reserved


def _read(written: str, limit: str) -> Decimal | None:
    """None for what can't be read."""
    try:
        return read_amount(written, limit)
    except StoreError:
        return None
