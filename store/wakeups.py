"""Word that something in the store has moved.

What this process appends is known at once. Of what others commit a file's ``PRAGMA data_version``, on a
connection of our own, is the truth, whoever committed: it costs a few microseconds, so it is asked on
the event loop, every few milliseconds, while somebody waits. Where the database is a server, it says so
itself to who listens. Either way nothing depends on it: who waits looks again after a while.
"""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import suppress

from sqlalchemy import Connection

SECONDS_BETWEEN_LOOKS = 0.02

_STIRRED = "pilothouse_is_stirred"


def stir(connection: Connection) -> None:
    """What is being written here concerns other processes: they are told at the commit."""
    connection.info[_STIRRED] = True


def is_stirred(connection: Connection) -> bool:
    """Has anything been written in this transaction that others are to be told of?"""
    return _STIRRED in connection.info


def forget_stirring(connection: Connection) -> None:
    """A transaction begins: of what an earlier one wrote others have been told, or it was undone."""
    connection.info.pop(_STIRRED, None)


class HeardWakeups:
    """The ``Wakeups`` port, moved by whoever hears of something. Belongs to the event loop on which it
    is used."""

    def __init__(self) -> None:
        self._moves = 0
        self._waiters: set[asyncio.Future[None]] = set()
        self._is_closed = False

    @property
    def moves(self) -> int:
        return self._moves

    def moved(self) -> None:
        """Something was committed: wake everyone now."""
        self._moves += 1
        self._wake()

    async def wait(self, moves: int, timeout: float) -> None:
        if self._is_closed or self.moves > moves:
            return
        waiter = asyncio.get_running_loop().create_future()
        self._waiters.add(waiter)
        try:
            await asyncio.wait([waiter], timeout=timeout)
        finally:
            self._waiters.discard(waiter)

    def close(self) -> None:
        """Whoever waits goes on. Twice is once."""
        self._is_closed = True
        self._wake()

    def _wake(self) -> None:
        for waiter in self._waiters:
            if not waiter.done():
                waiter.set_result(None)


class WatchedWakeups(HeardWakeups):
    """The same, over a file that is watched."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        super().__init__()
        self._connection = connection
        self._version: int | None = None
        self._timer: asyncio.TimerHandle | None = None

    @property
    def moves(self) -> int:
        self._notice()
        return self._moves

    def moved(self) -> None:
        self._notice()

    async def wait(self, moves: int, timeout: float) -> None:
        if not self._is_closed:
            self._look_again_soon()
        await super().wait(moves, timeout)

    def close(self) -> None:
        if not self._is_closed:
            if self._timer is not None:
                self._timer.cancel()
            self._connection.close()
        super().close()

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
                    super().moved()
