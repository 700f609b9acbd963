"""Who is alive.

A row with a heartbeat says who there is. A kernel lock on a file says who is dead: a process holds
it for life, and the kernel drops it at its death, however that came. Whoever can take it ends what
that process held.
"""

from __future__ import annotations

import asyncio
import json
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, Row, bindparam, delete, insert, select, update

from agent.errors import StoreError
from agent.ports import Clock, Process
from store.instants import Instant
from store.lease_tables import end_leases
from store.life_locks import LifeLock, LifeLocks
from store.reader import Reader
from store.schema import processes
from store.writer import Writer

#: Who looks whether a process is dead has its lock for an instant; who lives has it for good.
_TRIES, _SECONDS_BETWEEN_TRIES = 25, 0.02

_INSERT = insert(processes)
_DELETE = delete(processes).where(processes.c.process_id == bindparam("of_process"))
_BEAT = (
    update(processes)
    .where(processes.c.process_id == bindparam("of_process"))
    .values(beat_at=bindparam("now", type_=Instant))
)
_ALIVE = (
    select(processes)
    .where(processes.c.beat_at > bindparam("since", type_=Instant))
    .order_by(processes.c.process_id)
)


class SqlProcesses:
    """The ``Processes`` port."""

    def __init__(self, writer: Writer, reader: Reader, clock: Clock, locks: LifeLocks) -> None:
        self._writer = writer
        self._reader = reader
        self._clock = clock
        self._locks = locks
        self._joined: dict[str, tuple[Process, LifeLock]] = {}

    async def join(self, process: Process) -> None:
        """As the port says. Raises ``StoreError`` while another live process has this id."""
        lock = await self._lock(process.process_id)

        def work(connection: Connection) -> None:
            now = self._clock.now()
            # Of an earlier process with this id, which is dead: its lock was free.
            _remove(connection, process.process_id, now)
            connection.execute(_INSERT, _values(process, now))

        try:
            await self._writer.run(work)
        except BaseException:
            lock.release()
            raise
        self._joined[process.process_id] = (process, lock)

    async def beat(self, process_id: str) -> None:
        joined = self._joined.get(process_id)

        def work(connection: Connection) -> None:
            now = self._clock.now()
            found = connection.execute(_BEAT, {"of_process": process_id, "now": now}).rowcount
            if not found and joined:
                connection.execute(_INSERT, _values(joined[0], now))

        await self._writer.run(work)

    async def leave(self, process_id: str) -> None:
        await self._forget(process_id)
        if joined := self._joined.pop(process_id, None):
            joined[1].remove()

    async def alive(self, term: timedelta) -> list[Process]:
        since = self._clock.now() - term
        rows = await self._reader.run(lambda c: c.execute(_ALIVE, {"since": since}).all())
        return [_process(row) for row in rows if not self._locks.is_free(row.process_id)]

    async def bury_dead(self) -> list[str]:
        buried = []
        for process_id in self._locks.ids():
            if (lock := self._locks.take_over(process_id)) is None:
                continue
            try:
                if await self._forget(process_id):
                    buried.append(process_id)
                # Only now: until the leases have ended, somebody else must be able to end them.
                lock.remove()
            finally:
                lock.release()
        return buried

    def close(self) -> None:
        """Let go of the locks: whoever joined through this handle and did not leave counts as dead."""
        for _, lock in self._joined.values():
            lock.release()
        self._joined.clear()

    async def _forget(self, process_id: str) -> bool:
        return await self._writer.run(lambda c: _remove(c, process_id, self._clock.now()))

    async def _lock(self, process_id: str) -> LifeLock:
        for _ in range(_TRIES):
            if (lock := self._locks.take(process_id)) is not None:
                return lock
            await asyncio.sleep(_SECONDS_BETWEEN_TRIES)
        raise StoreError(f"Another live process has the id {process_id}.")


def _remove(connection: Connection, process_id: str, now: datetime) -> bool:
    """Forget the process and end its leases; False when nothing was known of it."""
    ended = end_leases(connection, process_id, now)
    return bool(connection.execute(_DELETE, {"of_process": process_id}).rowcount or ended)


def _values(process: Process, now: datetime) -> dict[str, object]:
    return {
        "process_id": process.process_id,
        "build": process.build,
        "agents": json.dumps(process.agents),
        "tools": None if process.tools is None else json.dumps(dict(process.tools)),
        "does_work": process.does_work,
        "draws": process.draws,
        "beat_at": now,
    }


def _process(row: Row[Any]) -> Process:
    return Process(
        process_id=row.process_id,
        build=row.build,
        agents=tuple(json.loads(row.agents)),
        does_work=row.does_work,
        draws=row.draws,
        tools=None if row.tools is None else _tools(row.tools),
    )


def _tools(written: str) -> dict[str, tuple[str, ...]]:
    return {agent: tuple(names) for agent, names in json.loads(written).items()}
