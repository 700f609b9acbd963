"""Locks of sessions: a server drops them when the connection of their process ends."""

from __future__ import annotations

import time
from collections.abc import Collection
from hashlib import sha256

from sqlalchemy import BigInteger, Connection, bindparam, select, text

from store.listening import Listening
from store.lives import Graveyard
from store.reader import Reader
from store.schema import processes
from store.writer import LAST, Writer

#: After a restart of the server nobody has a lock: so long the others may take to come back.
SECONDS_TO_COME_BACK = 10.0

_HELD = text(
    "SELECT (classid::bigint << 32) | objid::bigint FROM pg_locks"
    " WHERE locktype = 'advisory' AND objsubid = 1 AND granted"
    " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
)
_LOCKED = select(processes.c.process_id).where(processes.c.has_lock)
_TAKE = text("SELECT pg_try_advisory_xact_lock(:key)").bindparams(
    bindparam("key", type_=BigInteger)
)


class SessionLives:
    """The ``Lives`` of processes on any number of hosts, by the connection on which each listens."""

    def __init__(self, listening: Listening, reader: Reader, writer: Writer) -> None:
        self._listening = listening
        self._reader = reader
        self._writer = writer

    async def begin(self, process_id: str) -> bool:
        return await self._listening.hold(key_of(process_id))

    async def end(self, process_id: str) -> None:
        await self._listening.release(key_of(process_id))

    def has_lock(self, process_id: str) -> bool:
        return self._listening.holds(key_of(process_id))

    async def dead(self, process_ids: Collection[str]) -> set[str]:
        held = await self._reader.run(lambda c: set(c.execute(_HELD).scalars()))
        return {one for one in process_ids if key_of(one) not in held}

    async def bury_dead(self, graveyard: Graveyard) -> list[str]:
        returned_at = self._listening.returned_at
        if not self._listening.is_listening:
            # Neither may the others be able to: a server that restarts has dropped all locks.
            return []
        if returned_at is not None and time.monotonic() - returned_at < SECONDS_TO_COME_BACK:
            return []
        locked = await self._reader.run(lambda c: list(c.execute(_LOCKED).scalars()))
        return [one for one in sorted(await self.dead(locked)) if await self._bury(graveyard, one)]

    async def close(self) -> None:
        await self._listening.close()

    async def _bury(self, graveyard: Graveyard, process_id: str) -> bool:
        """With its lock: whoever begins under this name meanwhile waits."""

        def work(connection: Connection) -> bool:
            is_ours = connection.execute(_TAKE, {"key": key_of(process_id)}).scalar()
            return bool(is_ours) and graveyard.bury_in(connection, process_id)

        return await self._writer.run(work, of=LAST)


def key_of(process_id: str) -> int:
    """The number of a process's lock."""
    digest = sha256(b"pilothouse process " + process_id.encode()).digest()
    return int.from_bytes(digest[:8], "big", signed=True)
