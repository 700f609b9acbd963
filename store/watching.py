"""Wake-ups over a file.

``PRAGMA data_version``, on a connection of our own, is the truth, whoever committed: it costs a few
microseconds, so it is asked on the event loop while somebody waits. A word of whoever committed makes it
be asked at once.
"""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import suppress

from store.datagrams import Ear
from store.life_locks import LifeLocks
from store.wakeups import SECONDS_BETWEEN_LOOKS, HeardWakeups


class WatchedWakeups(HeardWakeups):
    """Moved by the file itself. Words are listened to under a lock of ``listeners``."""

    def __init__(self, connection: sqlite3.Connection, listeners: LifeLocks | None) -> None:
        super().__init__()
        self._connection = connection
        self._version: int | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._look: asyncio.Handle | None = None
        self._ear: Ear | None = None
        if listeners is not None:
            self._ear = Ear(listeners, self._notice)
            self._ear.open()

    @property
    def moves(self) -> int:
        self._notice()
        return self._moves

    def moved(self) -> None:
        """Looked at once for all who say so in the same moment: those whose works were committed together. Not at all
        while nobody waits: whoever asks later looks then, and a look gets in the way of the next group."""
        if self._look is None and self._waiters:
            self._look = asyncio.get_running_loop().call_soon(self._look_once)

    async def wait(self, moves: int, timeout: float) -> None:
        if not self._is_closed:
            self._look_again_soon()
        await super().wait(moves, timeout)

    def close(self) -> None:
        if not self._is_closed:
            if self._timer is not None:
                self._timer.cancel()
            if self._ear is not None:
                self._ear.close()
            self._connection.close()
        super().close()

    def _look_again_soon(self) -> None:
        if self._timer is None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(SECONDS_BETWEEN_LOOKS, self._look_again)

    def _look_once(self) -> None:
        self._look = None
        self._notice()

    def _look_again(self) -> None:
        self._timer = None
        self._notice()
        if self._waiters:
            self._look_again_soon()

    def _notice(self) -> bool:
        """Has anything been committed since the last look?"""
        # While it can't be asked nothing has been seen to move; the next look will tell.
        with suppress(sqlite3.Error):
            if not self._is_closed:
                (version,) = self._connection.execute("PRAGMA data_version").fetchone()
                if version != self._version:
                    self._version = version
                    super().moved()
                    return True
        return False
