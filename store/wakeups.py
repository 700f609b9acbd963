"""Word that something in the store has moved.

What this process appends is known at once. Of what others commit there is word: a notification where the
database is a server, a datagram where it is a file. Both are hints, and may be lost or missing; so while
somebody waits the database is asked, too, whether anything was committed. Whoever waits looks for
themselves after a while all the same.
"""

from __future__ import annotations

import asyncio

from sqlalchemy import Connection

#: So often a database is asked, where nothing is known to tell of what others commit.
SECONDS_BETWEEN_LOOKS = 0.04

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
