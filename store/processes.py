"""Who is alive.

A row with a heartbeat says who there is. A lock that a process holds for life says who is dead: whoever
finds it free ends what that process held.
"""

from __future__ import annotations

import asyncio
import json
from datetime import datetime, timedelta
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError
from sqlalchemy import Connection, Row, bindparam, delete, insert, select, update

from agent.errors import StoreError
from agent.ports import Process
from store.clock import StoreClock
from store.instants import microseconds
from store.key_registry import must_have, said_of
from store.keys import Keys
from store.lives import Graveyard, Lives
from store.migrations import HEAD
from store.migrations.floor import admit
from store.now import A_TERM_AGO, NOW
from store.queued import LAST
from store.reader import Reader
from store.schema import FORMAT, processes
from store.writer import Writer

T = TypeVar("T")

_NAMES = TypeAdapter(tuple[str, ...])
_TOOLS = TypeAdapter(dict[str, tuple[str, ...]])

#: Whoever has been silent for so long is forgotten: the row of one that died without a lock would stay.
#: Its leases ended by time. Who lives all the same writes its row anew with its next beat.
FORGOTTEN_AFTER = timedelta(days=1)
#: Who looks whether a process is dead has its lock for an instant; who lives has it for good.
_TRIES, _SECONDS_BETWEEN_TRIES = 25, 0.02

_INSERT = insert(processes).values(beat_at=NOW)
_BEAT = (
    update(processes)
    .where(processes.c.process_id == bindparam("of_process"))
    .values(beat_at=NOW, has_lock=bindparam("is_locked"))
)
_FORGET = delete(processes).where(processes.c.beat_at < A_TERM_AGO)
_ALIVE = select(processes).where(processes.c.beat_at > A_TERM_AGO).order_by(processes.c.process_id)


class SqlProcesses:
    """The ``Processes`` port."""

    def __init__(
        self, writer: Writer, reader: Reader, clock: StoreClock, lives: Lives, keys: Keys
    ) -> None:
        self._keys = keys
        self._writer = writer
        self._reader = reader
        self._clock = clock
        self._lives = lives
        self._graveyard = Graveyard(writer, clock)
        self._joined: dict[str, Process] = {}
        self._joining: set[asyncio.Task[None]] = set()

    async def join(self, process: Process) -> None:
        """As the port says. Raises ``StoreError`` while another live process has this id.

        Whoever could not join, or no longer waits for it, counts as dead in a moment."""
        joining = asyncio.create_task(self._join(process), name=f"join {process.process_id}")
        self._joining.add(joining)
        joining.add_done_callback(self._joining.discard)
        try:
            await asyncio.shield(joining)
        except asyncio.CancelledError:
            self._give_up(joining, process.process_id)
            raise

    async def beat(self, process_id: str) -> None:
        joined = self._joined.get(process_id)

        def work(connection: Connection) -> None:
            self._clock.measure(connection)
            values = {
                "of_process": process_id,
                "is_locked": self._lives.has_lock(process_id),
                "now": self._clock.told(),
            }
            if connection.execute(_BEAT, values).rowcount == 0 and joined:
                self._insert(connection, joined)

        await self._writer.run(work, of=LAST)

    async def leave(self, process_id: str) -> None:
        await self._graveyard.bury(process_id)
        self._joined.pop(process_id, None)
        await self._lives.end(process_id)

    async def alive(self, term: timedelta) -> list[Process]:
        rows = await self._reader.run(lambda c: c.execute(_ALIVE, self._ago(term)).all())
        dead = await self._lives.dead([row.process_id for row in rows if row.has_lock])
        return [_process(row) for row in rows if row.process_id not in dead]

    def draws_here(self) -> bool:
        """Has a process that draws threads joined through this handle?"""
        return any(process.draws for process in self._joined.values())

    async def bury_dead(self) -> list[str]:
        return await self._lives.bury_dead(self._graveyard)

    async def close(self) -> None:
        """Let go of the locks: whoever joined through this handle and did not leave counts as dead."""
        await asyncio.gather(*self._joining, return_exceptions=True)
        await self._lives.close()
        self._joined.clear()

    async def _join(self, process: Process) -> None:
        await self._begin(process.process_id)

        def work(connection: Connection) -> None:
            # Of an earlier process with this id, which is dead: its lock was free.
            self._graveyard.bury_in(connection, process.process_id)
            connection.execute(_FORGET, self._ago(FORGOTTEN_AFTER))
            self._insert(connection, process)

        try:
            await self._writer.run(work, of=LAST)
        except BaseException:
            # It may have been committed all the same: then somebody has to bury it.
            await self._lives.abandon(process.process_id)
            raise
        self._joined[process.process_id] = process

    def _give_up(self, joining: asyncio.Task[None], process_id: str) -> None:
        """Only once it is known how the joining ended: a lock that was free before the row is there
        would be found by somebody who finds nothing to bury, and never again."""

        async def abandon() -> None:
            if not (await asyncio.gather(joining, return_exceptions=True))[0]:
                self._joined.pop(process_id, None)
                await self._lives.abandon(process_id)

        abandoning = asyncio.create_task(abandon(), name=f"abandon {process_id}")
        self._joining.add(abandoning)
        abandoning.add_done_callback(self._joining.discard)

    async def _begin(self, process_id: str) -> None:
        for _ in range(_TRIES):
            if await self._lives.begin(process_id):
                return
            await asyncio.sleep(_SECONDS_BETWEEN_TRIES)
        raise StoreError(f"Another live process has the id {process_id}.")

    def _ago(self, term: timedelta) -> dict[str, object]:
        return {"now": self._clock.told(), "term": microseconds(term)}

    def _insert(self, connection: Connection, process: Process) -> None:
        admit(connection, HEAD)
        must_have(connection, self._keys)
        is_locked = self._lives.has_lock(process.process_id)
        values = _values(process, is_locked, self._clock.told())
        connection.execute(_INSERT, {**values, "held_keys": said_of(self._keys)})


def _values(process: Process, has_lock: bool, now: datetime | None) -> dict[str, object]:
    return {
        "process_id": process.process_id,
        "build": process.build,
        "agents": json.dumps(process.agents),
        "tools": None if process.tools is None else json.dumps(dict(process.tools)),
        "does_work": process.does_work,
        "draws": process.draws,
        "has_lock": has_lock,
        "schema": HEAD,
        "form": FORMAT,
        "now": now,
    }


def _process(row: Row[Any]) -> Process:
    """What the row says. Where that can't be read, one that has no agent: it takes nothing on, and hides no other."""
    agents = _read(row.agents, _NAMES)
    tools = None if row.tools is None else _read(row.tools, _TOOLS)
    is_read = agents is not None and (row.tools is None or tools is not None)
    return Process(
        process_id=row.process_id,
        build=row.build,
        agents=agents if is_read and agents is not None else (),
        does_work=row.does_work,
        draws=row.draws,
        tools=tools if is_read else {},
        form=row.form if isinstance(row.form, int) else None,
    )


def _read(written: str, as_what: TypeAdapter[T]) -> T | None:
    try:
        return as_what.validate_json(written)
    except ValidationError:
        return None
