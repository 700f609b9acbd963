"""What all processes together may still do, out of doors: one row a thing that is limited.

A row holds the instant at which everything that was taken is made up for (the "generic cell rate
algorithm"): as far as that lies ahead, so much of the burst is used. Beside it stands when somebody
outside said that there is nothing for a while, and until when. It is read, judged by the store's clock
and moved in one transaction, with the row locked, so that two processes never take the same.

By a clock that was set back a row may lie hours ahead. No more than a whole burst can have been used, so
the rest of it is not waited for; and what was said outside in time to come will be said again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta

from sqlalchemy import Connection, bindparam, insert, select, update

from agent.ports import Rate, Take
from store.clock import StoreClock
from store.instants import Instant
from store.now import NOW
from store.schema import allowances
from store.writer import Writer, of_allowance

_OF_KEY = allowances.c.allowance_key == bindparam("of_key")
_LOCK = (
    select(allowances.c.made_up_at, allowances.c.withheld_at, allowances.c.withheld_until)
    .where(_OF_KEY)
    .with_for_update()
)
# Of a statement of its own, behind the lock: what was waited for has passed.
_NOW = select(NOW)
_INSERT = insert(allowances)
_MOVE = (
    update(allowances)
    .where(_OF_KEY)
    .values(
        made_up_at=bindparam("moved_to", type_=Instant),
        withheld_at=bindparam("said_at", type_=Instant),
        withheld_until=bindparam("said_until", type_=Instant),
    )
)
_NOTHING = timedelta()


@dataclass(frozen=True, slots=True)
class Taken:
    """What a row says."""

    made_up_at: datetime
    #: When it was said that there is nothing for a while, and until when that is.
    withheld_at: datetime | None = None
    withheld_until: datetime | None = None

    def as_of(self, now: datetime, rate: Rate) -> Taken:
        """What of it counts by a clock that may have been set back."""
        made_up_at = min(self.made_up_at, now + rate.every * rate.burst)
        if self.withheld_at is None or self.withheld_at > now:
            return Taken(made_up_at)
        return replace(self, made_up_at=made_up_at)


def judge(taken: Taken | None, now: datetime, wanted: Take) -> tuple[datetime, timedelta]:
    """When everything would be made up for if one more were taken now, and how long that is too early;
    not above zero, where it may be. ``taken`` as of now."""
    rate = wanted.rate
    made_up_at = now if taken is None else max(taken.made_up_at, now)
    if taken is not None and taken.withheld_until is not None:
        # Then there is one, and no burst.
        made_up_at = max(made_up_at, taken.withheld_until + rate.every * (rate.burst - 1))
    moved_to = made_up_at + rate.every
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
                found, now = self._look(connection, one.key)
                taken = found and found.as_of(now, one.rate)
                moved_to, wait = judge(taken, now, one)
                waits.append(wait)
                moves.append((one.key, found, taken, moved_to))
            longest = max(waits)
            for key, found, taken, moved_to in moves:
                if longest == _NOTHING:
                    _write(
                        connection,
                        key,
                        found,
                        replace(taken or Taken(moved_to), made_up_at=moved_to),
                    )
                elif taken is not None and taken != found:
                    # Else it would lie as far ahead whenever it is asked for.
                    _write(connection, key, found, taken)
            return longest

        return await self._writer.run(work, of=of_allowance(in_order[0].key))

    async def withhold(self, key: str, span: timedelta) -> None:
        def work(connection: Connection) -> None:
            found, now = self._look(connection, key)
            taken = found or Taken(now)
            is_known = taken.withheld_at is not None and taken.withheld_at <= now
            until = now + span
            if is_known and taken.withheld_until is not None:
                until = max(until, taken.withheld_until)
            said = replace(taken, withheld_at=now, withheld_until=until)
            _write(connection, key, found, said)

        await self._writer.run(work, of=of_allowance(key))

    def _look(self, connection: Connection, key: str) -> tuple[Taken | None, datetime]:
        row = connection.execute(_LOCK, {"of_key": key}).one_or_none()
        now = connection.execute(_NOW, {"now": self._clock.told()}).scalar_one()
        return (None if row is None else Taken(*row)), now


def _write(connection: Connection, key: str, found: Taken | None, taken: Taken) -> None:
    if found is None:
        connection.execute(_INSERT, {"allowance_key": key, **asdict(taken)})
    else:
        moved = {"moved_to": taken.made_up_at, "said_at": taken.withheld_at}
        connection.execute(_MOVE, {"of_key": key, "said_until": taken.withheld_until, **moved})
