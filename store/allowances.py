"""What all processes together may still do, out of doors: one row a thing that is limited.

A row holds the instant at which everything that was taken is made up for (the "generic cell rate
algorithm"): as far as that lies ahead, so much of the burst is used. It is read, judged by the store's
clock and moved in one transaction, with the row locked, so that two processes never take the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlalchemy import Connection, bindparam, insert, select, update

from agent.ports import Rate, Take
from store.clock import StoreClock
from store.instants import Instant
from store.now import NOW
from store.schema import allowances
from store.writer import Writer, of_allowance

_OF_KEY = allowances.c.allowance_key == bindparam("of_key")
_LOCK = select(allowances.c.made_up_at).where(_OF_KEY).with_for_update()
# Of a statement of its own, behind the lock: what was waited for has passed.
_NOW = select(NOW)
_INSERT = insert(allowances)
_MOVE = update(allowances).where(_OF_KEY).values(made_up_at=bindparam("moved_to", type_=Instant))
_NOTHING = timedelta()


def judge(made_up_at: datetime | None, now: datetime, wanted: Take) -> tuple[datetime, timedelta]:
    """When everything would be made up for if one more were taken now, and how long that is too early;
    not above zero, where it may be."""
    rate = wanted.rate
    moved_to = max(made_up_at or now, now) + rate.every
    return moved_to, moved_to - now - rate.every * (rate.burst - wanted.reserve)


class SqlAllowances:
    """The ``Allowances`` port."""

    def __init__(self, writer: Writer, clock: StoreClock) -> None:
        self._writer = writer
        self._clock = clock

    async def take(self, wanted: Sequence[Take]) -> timedelta:
        # In one order, whoever takes them: so that two don't each wait for a row that the other has.
        in_order = sorted(wanted, key=lambda one: one.key)

        def work(connection: Connection) -> timedelta:
            moves, waits = [], [_NOTHING]
            for one in in_order:
                made_up_at, now = self._look(connection, one.key)
                moved_to, wait = judge(made_up_at, now, one)
                waits.append(wait)
                moves.append((one.key, made_up_at, moved_to))
            if (longest := max(waits)) == _NOTHING:
                for move in moves:
                    _move(connection, *move)
            return longest

        return await self._writer.run(work, of=of_allowance(in_order[0].key))

    async def withhold(self, key: str, rate: Rate, span: timedelta) -> None:
        def work(connection: Connection) -> None:
            made_up_at, now = self._look(connection, key)
            moved_to = now + span + rate.every * (rate.burst - 1)
            if made_up_at is None or moved_to > made_up_at:
                _move(connection, key, made_up_at, moved_to)

        await self._writer.run(work, of=of_allowance(key))

    def _look(self, connection: Connection, key: str) -> tuple[datetime | None, datetime]:
        made_up_at = connection.execute(_LOCK, {"of_key": key}).scalar()
        return made_up_at, connection.execute(_NOW, {"now": self._clock.told()}).scalar_one()


def _move(
    connection: Connection, key: str, made_up_at: datetime | None, moved_to: datetime
) -> None:
    if made_up_at is None:
        connection.execute(_INSERT, {"allowance_key": key, "made_up_at": moved_to})
    else:
        connection.execute(_MOVE, {"of_key": key, "moved_to": moved_to})
