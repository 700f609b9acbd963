"""Locks of sessions: a server drops them when the connection of their process ends.

A connection can also end while its process lives: it is then opened again, and takes its lock again, in
a moment. So who has lost a lock says so, if it can, and only who stays without one, and silent, is dead.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Collection
from contextlib import suppress
from datetime import datetime
from hashlib import sha256

from sqlalchemy import BigInteger, Connection, bindparam, select, text, update

from agent.errors import StoreError
from store.listening import Listening
from store.lives import Graveyard
from store.queued import LAST
from store.reader import Reader
from store.schema import processes
from store.writer import Writer

#: Without its lock, and without a beat, a process is taken for dead after so long.
SECONDS_TO_RETURN = 3.0
#: After a restart of the server nobody has a lock: so long the others may take to come back.
SECONDS_TO_COME_BACK = 10.0

_HELD = text(
    "SELECT extract(epoch FROM clock_timestamp() - pg_postmaster_start_time())::float,"
    " ARRAY(SELECT (classid::bigint << 32) | objid::bigint FROM pg_locks"
    " WHERE locktype = 'advisory' AND objsubid = 1 AND granted"
    " AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))"
)
_LOCKED = select(processes.c.process_id, processes.c.beat_at).where(processes.c.has_lock)
_IS_SILENT = (
    _LOCKED.where(processes.c.process_id == bindparam("of_process"))
    .where(processes.c.beat_at == bindparam("beat_at"))
    .with_for_update()
)
_SAY = (
    update(processes)
    .where(processes.c.process_id == bindparam("of_process"))
    .values(has_lock=bindparam("is_locked"))
)
_TAKE = text("SELECT pg_try_advisory_xact_lock(:key)").bindparams(
    bindparam("key", type_=BigInteger)
)


class Absences:
    """Since when processes have been without their locks, as far as one has looked.

    A beat in between is a sign of life: it says that the lock was held then, so the time begins anew.
    """

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._since: dict[tuple[str, datetime], float] = {}

    def note(self, absent: Collection[tuple[str, datetime]]) -> None:
        """A look: these have no lock, and beat last when they say."""
        now = self._monotonic()
        self._since = {one: self._since.get(one, now) for one in absent}

    def long(self) -> dict[str, datetime]:
        """Who is dead by the last look, and when they beat last."""
        latest = self._monotonic() - SECONDS_TO_RETURN
        return {name: beat for (name, beat), since in self._since.items() if since <= latest}


class SessionLives:
    """The ``Lives`` of processes on any number of hosts, by the connection on which each listens."""

    def __init__(self, listening: Listening, reader: Reader, writer: Writer) -> None:
        self._listening = listening
        self._reader = reader
        self._writer = writer
        self._absences = Absences()
        self._begun: set[str] = set()
        self._saying: set[asyncio.Task[None]] = set()
        listening.when_locks_move(self._say_soon)

    async def begin(self, process_id: str) -> bool:
        has_begun = await self._listening.hold(key_of(process_id))
        if has_begun:
            self._begun.add(process_id)
        return has_begun

    async def end(self, process_id: str) -> None:
        self._begun.discard(process_id)
        await self._listening.release(key_of(process_id))

    async def abandon(self, process_id: str) -> None:
        await self.end(process_id)

    def has_lock(self, process_id: str) -> bool:
        return self._listening.holds(key_of(process_id))

    async def dead(self, process_ids: Collection[str]) -> set[str]:
        return set(await self._dead()) & set(process_ids) if process_ids else set()

    async def bury_dead(self, graveyard: Graveyard) -> list[str]:
        dead = sorted((await self._dead()).items())
        return [name for name, beat in dead if await self._bury(graveyard, name, beat)]

    async def close(self) -> None:
        self._begun.clear()
        await self._listening.close()
        await asyncio.gather(*self._saying, return_exceptions=True)

    async def _dead(self) -> dict[str, datetime]:
        """Who is known to be dead, and when they beat last."""

        def work(connection: Connection) -> tuple[list[tuple[str, datetime]], float, set[int]]:
            locked = [(row.process_id, row.beat_at) for row in connection.execute(_LOCKED)]
            age, held = connection.execute(_HELD).one()
            return locked, age, set(held)

        locked, age, held = await self._reader.run(work)
        # Whoever looks knows of itself that it lives.
        others = [one for one in locked if one[0] not in self._begun]
        self._absences.note([one for one in others if key_of(one[0]) not in held])
        return {} if self._may_all_be_away(age) else self._absences.long()

    def _may_all_be_away(self, server_age: float) -> bool:
        """The server has just come back, or we have, perhaps after what cut off others as well."""
        returned_at = self._listening.returned_at
        own = server_age if returned_at is None else time.monotonic() - returned_at
        return min(own, server_age) < SECONDS_TO_COME_BACK

    async def _bury(self, graveyard: Graveyard, process_id: str, beat_at: datetime) -> bool:
        """With its lock: whoever begins under this name meanwhile waits. One that has said meanwhile
        that it lives is left alone."""
        values = {"of_process": process_id, "beat_at": beat_at}

        def work(connection: Connection) -> bool:
            is_ours = connection.execute(_TAKE, {"key": key_of(process_id)}).scalar()
            is_silent = bool(is_ours) and connection.execute(_IS_SILENT, values).first() is not None
            return is_silent and graveyard.bury_in(connection, process_id)

        return await self._writer.run(work, of=LAST)

    def _say_soon(self) -> None:
        if self._begun:
            saying = asyncio.create_task(self._say(), name="store-lives")
            self._saying.add(saying)
            saying.add_done_callback(self._saying.discard)

    async def _say(self) -> None:
        """Whether our locks would show our death. Where that can't be written now the next beat says it."""
        begun = sorted(self._begun)

        def work(connection: Connection) -> None:
            for one in begun:
                connection.execute(_SAY, {"of_process": one, "is_locked": self.has_lock(one)})

        with suppress(StoreError):
            await self._writer.run(work, of=LAST)


def key_of(process_id: str) -> int:
    """The number of a process's lock."""
    digest = sha256(b"pilothouse process " + process_id.encode()).digest()
    return int.from_bytes(digest[:8], "big", signed=True)
