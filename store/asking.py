"""Wake-ups over a server.

It tells who listens. Who can't listen now asks, a few times in a moment, which transactions it has seen
end: one short statement that touches no table.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from sqlalchemy import Connection, text

from agent.errors import StoreError
from store.wakeups import SECONDS_BETWEEN_LOOKS, HeardWakeups

#: Seconds between two questions while the server does not answer: the first, and the longest.
_FIRST_PAUSE, _LONGEST_PAUSE = 0.1, 5.0

# Not what it says matters, but whether it says something else: each transaction that ends after it has
# written moves the newest that has ended, or is missed from those that are under way.
_ENDED = text("SELECT CAST(pg_current_snapshot() AS TEXT)")


def what_has_ended(connection: Connection) -> str:
    """Differs from an earlier answer if anything has been committed since."""
    return str(connection.execute(_ENDED).scalar_one())


class AskedWakeups(HeardWakeups):
    """Moved by word; while ``is_listening`` says no, also by a new answer of ``ask``."""

    def __init__(self, ask: Callable[[], Awaitable[str]], is_listening: Callable[[], bool]) -> None:
        super().__init__()
        self._ask = ask
        self._is_listening = is_listening
        self._answer: str | None = None
        self._task: asyncio.Task[None] | None = None

    async def wait(self, moves: int, timeout: float) -> None:
        if not self._is_closed and (self._task is None or self._task.done()):
            self._task = asyncio.create_task(self._keep_asking(), name="store-asking")
        await super().wait(moves, timeout)

    def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
        super().close()

    async def _keep_asking(self) -> None:
        """For as long as somebody waits."""
        pause = SECONDS_BETWEEN_LOOKS
        while True:
            await asyncio.sleep(pause)
            if not self._waiters:
                return
            pause = SECONDS_BETWEEN_LOOKS if await self._look() else self._longer(pause)

    async def _look(self) -> bool:
        """False if there was no answer."""
        if self._is_listening():
            return True
        try:
            answer = await self._ask()
        except StoreError:
            return False
        if answer != self._answer:
            self._answer = answer
            self.moved()
        return True

    @staticmethod
    def _longer(pause: float) -> float:
        return min(max(pause * 2, _FIRST_PAUSE), _LONGEST_PAUSE)
