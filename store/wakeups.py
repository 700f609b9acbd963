"""Word that something in the store has moved.

``PRAGMA data_version`` on a connection of our own is the truth, whoever committed. It costs a few
microseconds, so it is asked on the event loop, every few milliseconds, while somebody waits. What
this process appends is known at once.
"""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import suppress

SECONDS_BETWEEN_LOOKS = 0.02


class SqliteWakeups:
    """The ``Wakeups`` port. Belongs to the event loop on which it is used."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._version: int | None = None
        self._moves = 0
        self._waiters: set[asyncio.Future[None]] = set()
        self._timer: asyncio.TimerHandle | None = None
        self._is_closed = False

    @property
    def moves(self) -> int:
        self._notice()
        return self._moves

    def moved(self) -> None:
        """Something was committed here: wake everyone now."""
        self._notice()

    async def wait(self, moves: int, timeout: float) -> None:
        if self._is_closed or self.moves > moves:
            return
        waiter = asyncio.get_running_loop().create_future()
        self._waiters.add(waiter)
        self._look_again_soon()
        try:
            await asyncio.wait([waiter], timeout=timeout)
        finally:
            self._waiters.discard(waiter)

    def close(self) -> None:
        """Whoever waits goes on."""
        if self._is_closed:
            return
        self._is_closed = True
        if self._timer is not None:
            self._timer.cancel()
        self._wake()
        self._connection.close()

    def _look_again_soon(self) -> None:
        if self._timer is None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(SECONDS_BETWEEN_LOOKS, self._look_again)

    def _look_again(self) -> None:
        self._timer = None
        self._notice()
        if self._waiters:
            self._look_again_soon()

    def _notice(self) -> None:
        # While it can't be asked nothing has been seen to move; the next look will tell.
        with suppress(sqlite3.OperationalError):
            if not self._is_closed:
                (version,) = self._connection.execute("PRAGMA data_version").fetchone()
                if version != self._version:
                    self._version = version
                    self._moves += 1
                    self._wake()

    def _wake(self) -> None:
        for waiter in self._waiters:
            if not waiter.done():
                waiter.set_result(None)
