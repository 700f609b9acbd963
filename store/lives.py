"""Who is known to be dead: a process holds a lock for as long as it lives, and whoever keeps the locks
drops it at its death, however that came."""

from __future__ import annotations

from collections.abc import Collection
from typing import Protocol

from sqlalchemy import Connection, bindparam, delete, select

from store.clock import StoreClock
from store.failures import as_store_errors
from store.lease_tables import end_leases
from store.life_locks import LifeLock, LifeLocks
from store.queued import LAST
from store.schema import processes
from store.wakeups import stir
from store.writer import Writer

_IS_PROCESS = processes.c.process_id == bindparam("of_process")
# First, as whoever buries a process that is silent does: else each could have what the other waits for.
_LOCK = select(processes.c.process_id).where(_IS_PROCESS).with_for_update()
_DELETE = delete(processes).where(_IS_PROCESS)


class Lives(Protocol):
    """The locks of the processes on one store."""

    async def begin(self, process_id: str) -> bool:
        """Take the lock for a life that begins; False while somebody else has it. All raise ``StoreUnavailable``."""

    async def end(self, process_id: str) -> None:
        """The life has ended in good order: nothing is left to be buried."""

    async def abandon(self, process_id: str) -> None:
        """The life has ended, and something may be left: let go of its lock, as a death would."""

    def has_lock(self, process_id: str) -> bool:
        """Would this process's death be seen by its lock, at this moment?"""

    async def dead(self, process_ids: Collection[str]) -> set[str]:
        """Which of these, who said that they have a lock, have none any more."""

    async def bury_dead(self, graveyard: Graveyard) -> list[str]:
        """End what dead processes left; their ids."""

    async def close(self) -> None:
        """Let go of the locks, as a death would. Twice is once."""


class Graveyard:
    """Ends what a process held, and forgets it."""

    def __init__(self, writer: Writer, clock: StoreClock) -> None:
        self._writer = writer
        self._clock = clock

    async def bury(self, process_id: str) -> bool:
        """False when nothing was known of it."""
        return await self._writer.run(lambda c: self.bury_in(c, process_id), of=LAST)

    def bury_in(self, connection: Connection, process_id: str) -> bool:
        """The same, inside a transaction."""
        connection.execute(_LOCK, {"of_process": process_id})
        ended = end_leases(connection, process_id, self._clock.told())
        if ended:
            stir(connection)
        return bool(connection.execute(_DELETE, {"of_process": process_id}).rowcount or ended)


class FileLives:
    """Locks on files: for the processes of one host, whose kernel drops them."""

    def __init__(self, locks: LifeLocks) -> None:
        self._locks = locks
        self._held: dict[str, LifeLock] = {}

    async def begin(self, process_id: str) -> bool:
        with as_store_errors():
            lock = self._locks.take(process_id)
        if lock is not None:
            self._held[process_id] = lock
        return lock is not None

    async def end(self, process_id: str) -> None:
        if (lock := self._held.pop(process_id, None)) is not None:
            with as_store_errors():
                lock.remove()

    async def abandon(self, process_id: str) -> None:
        if (lock := self._held.pop(process_id, None)) is not None:
            lock.release()

    def has_lock(self, process_id: str) -> bool:
        return process_id in self._held

    async def dead(self, process_ids: Collection[str]) -> set[str]:
        return {one for one in process_ids if self._locks.is_free(one)}

    async def bury_dead(self, graveyard: Graveyard) -> list[str]:
        with as_store_errors():
            return await self._bury(graveyard)

    async def _bury(self, graveyard: Graveyard) -> list[str]:
        buried = []
        for process_id in self._locks.ids():
            if (lock := self._locks.take_over(process_id)) is None:
                continue
            try:
                if await graveyard.bury(process_id):
                    buried.append(process_id)
                # Only now: until the leases have ended, somebody else must be able to end them.
                lock.remove()
            finally:
                lock.release()
        return buried

    async def close(self) -> None:
        for lock in self._held.values():
            lock.release()
        self._held.clear()
