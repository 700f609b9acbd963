"""Threads that are opened before their run begins: one row each, until it has begun or was given up."""

from __future__ import annotations

from datetime import timedelta

from sqlalchemy import BigInteger, Connection, bindparam, delete, insert, select, true, update
from sqlalchemy import type_coerce as as_type

from agent.errors import OpeningGivenUp, Unstorable
from agent.ports import Opening
from agent.rules.ids import RunId
from store.clock import StoreClock
from store.instants import microseconds
from store.now import A_TERM_AGO, NOW
from store.reader import Reader
from store.schema import openings
from store.writer import Writer, of_thread

_OF_RUN = openings.c.run_id == bindparam("of_run")
_IS_OPEN = openings.c.is_given_up.is_(False)
_INSERT = insert(openings).values(begun_at=NOW, is_given_up=False)
_OPEN = select(openings.c.run_id).where(_OF_RUN, _IS_OPEN)
_OLD = (
    select(openings.c.run_id)
    .where(as_type(openings.c.begun_at, BigInteger) < A_TERM_AGO)
    .order_by(openings.c.begun_at, openings.c.run_id)
    .limit(bindparam("at_most"))
)
_GIVE_UP = (
    update(openings)
    .where(openings.c.run_id.in_(_OLD))
    .values(is_given_up=true())
    .returning(openings.c.run_id, openings.c.place, openings.c.begun_at)
)
_END = delete(openings).where(_OF_RUN, _IS_OPEN)
_FORGET = delete(openings).where(_OF_RUN)


def end_opening(connection: Connection, run_id: RunId) -> None:
    """Its run begins in this transaction. Raises ``OpeningGivenUp``."""
    if connection.execute(_END, {"of_run": run_id}).rowcount == 0:
        raise OpeningGivenUp(run_id)


class SqlOpenings:
    """The ``Openings`` port."""

    def __init__(self, writer: Writer, reader: Reader, clock: StoreClock) -> None:
        self._writer = writer
        self._reader = reader
        self._clock = clock

    async def begin(self, run_id: RunId, place: str) -> None:
        def work(connection: Connection) -> None:
            new = {"run_id": run_id, "place": place, "now": self._clock.told()}
            if connection.execute(_OPEN, {"of_run": run_id}).scalar() is None:
                connection.execute(_INSERT, new)

        await self._writer.run(work, of=of_thread(run_id))

    async def is_open(self, run_id: RunId) -> bool:
        try:
            found = await self._reader.run(lambda c: c.execute(_OPEN, {"of_run": run_id}).scalar())
        except Unstorable:
            return False
        return found is not None

    async def give_up(self, older: timedelta, *, limit: int) -> list[Opening]:
        of = {"term": microseconds(older), "at_most": limit, "now": self._clock.told()}

        def work(connection: Connection) -> list[Opening]:
            rows = connection.execute(_GIVE_UP, of).all()
            found = [Opening(RunId(row.run_id), row.place, row.begun_at) for row in rows]
            return sorted(found, key=lambda one: one.begun_at)

        # Most of the time there are none, and nobody waits for the turn to write.
        if not await self._reader.run(lambda c: c.execute(_OLD, of).first()):
            return []
        return await self._writer.run(work, of=of_thread("openings"))

    async def forget(self, run_id: RunId) -> None:
        def work(connection: Connection) -> None:
            connection.execute(_FORGET, {"of_run": run_id})

        await self._writer.run(work, of=of_thread(run_id))
