"""Whether what is used of each limit is the sum of what its reservations hold; if not, it is written anew.

The first look is at rows that others change meanwhile, page by page; whatever seems wrong is looked at
again with its limit locked.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from functools import reduce

from sqlalchemy import Connection, Integer, bindparam, select, tuple_

from agent.errors import StoreError
from agent.rules.reservations import COUNTING
from store.limits import EXACT, NOTHING, lock, read_amount, set_used, write_amount
from store.reader import Reader
from store.schema import limits, reservations
from store.writer import LAST, Writer

PAGE = 500

_COUNTS = reservations.c.status.in_(sorted(COUNTING))
_KEY = (reservations.c.run_id, reservations.c.call_id, reservations.c.limit_key)
_AT_MOST = bindparam("at_most", type_=Integer)
_RESERVATIONS = (
    select(*_KEY, reservations.c.amount)
    .where(_COUNTS, tuple_(*_KEY) > tuple_(*map(bindparam, ("run", "call", "limit"))))
    .order_by(*_KEY)
    .limit(_AT_MOST)
)
_LIMITS = (
    select(limits.c.limit_key, limits.c.used)
    .where(limits.c.limit_key > bindparam("after"))
    .order_by(limits.c.limit_key)
    .limit(_AT_MOST)
)
_OF_LIMIT = select(reservations.c.amount).where(
    reservations.c.limit_key == bindparam("of_limit"), _COUNTS
)


class LimitSums:
    """Compares, and mends."""

    def __init__(self, writer: Writer, reader: Reader) -> None:
        self._writer = writer
        self._reader = reader

    async def differences(self) -> list[str]:
        """Of which limits something else is said to be used than is reserved, in words."""
        return await self._look(mends=False)

    async def mend(self) -> list[str]:
        """Write those anew; what they were."""
        return await self._look(mends=True)

    async def _look(self, *, mends: bool) -> list[str]:
        found = [await self._compare(limit, mends) for limit in await self._suspects()]
        return [words for words in found if words is not None]

    async def _compare(self, limit: str, mends: bool) -> str | None:
        look = mend_sum if mends else compare_sum
        return await self._writer.run(lambda c: look(c, limit), of=LAST)

    async def _suspects(self) -> list[str]:
        sums = await self._reader.run(_sum_all)
        used = await self._reader.run(lambda c: dict(_all_used(c)))
        return sorted(
            limit
            for limit in sums.keys() | used.keys()
            if used.get(limit, NOTHING) != sums.get(limit, NOTHING)
        )


def _sum_all(connection: Connection) -> dict[str, Decimal]:
    sums: dict[str, Decimal] = {}
    last: dict[str, object] = {"run": "", "call": "", "limit": "", "at_most": PAGE}
    while rows := connection.execute(_RESERVATIONS, last).all():
        for run, call, limit, amount in rows:
            sums[limit] = EXACT.add(sums.get(limit, NOTHING), read_amount(amount, limit))
            last |= {"run": run, "call": call, "limit": limit}
    return sums


def _all_used(connection: Connection) -> Iterator[tuple[str, Decimal | None]]:
    after = ""
    while rows := connection.execute(_LIMITS, {"after": after, "at_most": PAGE}).all():
        for after, written in rows:
            yield after, _read(written, after)


def compare_sum(connection: Connection, limit: str) -> str | None:
    """What is wrong with this limit, which nobody else changes before the commit; None: nothing is."""
    return _compare(connection, limit, mends=False)


def mend_sum(connection: Connection, limit: str) -> str | None:
    """The same, and it is right afterwards."""
    return _compare(connection, limit, mends=True)


def _compare(connection: Connection, limit: str, *, mends: bool) -> str | None:
    written = lock(connection, limit)
    used = NOTHING if written is None else _read(written, limit)
    amounts = connection.execute(_OF_LIMIT, {"of_limit": limit}).scalars()
    reserved = reduce(EXACT.add, (read_amount(one, limit) for one in amounts), NOTHING)
    if used == reserved:
        return None
    if mends:
        set_used(connection, limit, reserved, is_new=written is None)
    said = "what is no number" if used is None else write_amount(used)
    return f"limit {limit}: {said} is said to be used, {write_amount(reserved)} is reserved"


def _read(written: str, limit: str) -> Decimal | None:
    """None for what can't be read."""
    try:
        return read_amount(written, limit)
    except StoreError:
        return None
