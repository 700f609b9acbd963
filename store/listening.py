"""A connection that hears what other processes commit, and holds locks for as long as it lives.

It may be lost at any time: the server restarts, the network fails. It is then opened again, after
pauses that grow, and whoever waits looks for themselves; nothing else depends on it.
"""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress

import asyncpg

from agent.errors import StoreUnavailable
from agent.troubles import Trouble
from store.echo import Deaf

log = logging.getLogger(__name__)

CHANNEL = "pilothouse"
#: What has those look who hear.
TELL = f"SELECT pg_notify('{CHANNEL}', '')"
#: Seconds: of the first pause before it is opened again, and of the longest.
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 5.0
#: Where nothing is heard of others it is tried again so seldom: somebody has to change something first.
DEAF_PAUSE = 60.0
#: So often a silent connection is asked whether it is still there, and so long it may take to say so.
SECONDS_BETWEEN_LOOKS, ANSWERS_WITHIN = 15.0, 5.0
#: A lock that an earlier connection of ours may still have is tried again so soon.
SECONDS_BETWEEN_TRIES = 1.0

_TAKE = "SELECT pg_try_advisory_lock($1)"
_RELEASE = "SELECT pg_advisory_unlock($1)"
_RELEASE_ALL = "SELECT pg_advisory_unlock_all()"
#: How a connection is lost.
_GONE = (
    asyncpg.PostgresError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,
    OSError,
    StoreUnavailable,
)


class Listening:
    """Keeps the connection that ``connect`` opens, one that hears. ``heard`` is called for each word, and when
    words may have been missed."""

    def __init__(
        self, connect: Callable[[], Awaitable[asyncpg.Connection]], heard: Callable[[], None]
    ) -> None:
        self._connect = connect
        self._heard = heard
        self._locks_moved: Callable[[], None] = lambda: None
        self._connection: asyncpg.Connection | None = None
        self._lost = asyncio.Event()
        self._wanted: set[int] = set()
        self._held: set[int] = set()
        self._is_free = asyncio.Lock()
        self._takes = asyncio.Lock()
        self._pause = FIRST_PAUSE
        self._is_deaf = False
        self._trouble = Trouble(log, "others can't be heard now, so they are looked for: %s")
        self._task: asyncio.Task[None] | None = None
        #: When it was last opened after it had been lost, by the monotonic clock.
        self.returned_at: float | None = None

    def when_locks_move(self, moved: Callable[[], None]) -> None:
        """``moved`` is called whenever the locks are lost, and when they are taken again."""
        self._locks_moved = moved

    async def start(self) -> None:
        """Listen from now on. A connection that can't be had now is had later. Raises ``ConfigError``
        where none can be had ever."""
        await self._open()
        self._task = asyncio.create_task(self._keep(), name="store-listening")

    async def close(self) -> None:
        """Let go of the connection and of its locks. Twice is once."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self._task = None
            # A server takes a moment to see that a connection has ended.
            await self._ask(_RELEASE_ALL)
        self._drop()

    @property
    def is_listening(self) -> bool:
        """Is there a connection, as far as is known?"""
        return self._connection is not None and not self._lost.is_set()

    async def hold(self, key: int) -> bool:
        """Take this lock for as long as the connection lives, and again whenever it is opened again;
        False while somebody has it. Without a connection: later."""
        if key in self._wanted:
            return False
        self._wanted.add(key)
        await self._take_wanted()
        if not self.is_listening or key in self._held:
            return True
        self._wanted.discard(key)
        return False

    async def release(self, key: int) -> None:
        async with self._takes:
            self._wanted.discard(key)
            if key in self._held:
                self._held.discard(key)
                await self._ask(_RELEASE, key)

    def holds(self, key: int) -> bool:
        return self.is_listening and key in self._held

    async def _keep(self) -> None:
        """Until it is closed, whatever happens: nobody else would open the connection again."""
        while True:
            try:
                await (self._return() if self._connection is None else self._look_after())
            except Exception:
                log.exception("others can't be heard now, so they are looked for")
                self._drop()

    async def _return(self) -> None:
        """After a pause, which grows while the connection can't be had, or is lost again soon."""
        pause = DEAF_PAUSE if self._is_deaf else self._pause
        await asyncio.sleep(pause * random.uniform(0.5, 1))
        self._pause = min(self._pause * 2, LONGEST_PAUSE)
        if await self._open():
            self.returned_at = time.monotonic()
            self._locks_moved()

    async def _look_after(self) -> None:
        """Until it is lost, or something is to be tried again."""
        if self.returned_at is None or time.monotonic() - self.returned_at > LONGEST_PAUSE:
            self._pause = FIRST_PAUSE
        most = SECONDS_BETWEEN_LOOKS if self._wanted <= self._held else SECONDS_BETWEEN_TRIES
        with suppress(TimeoutError):
            async with asyncio.timeout(most):
                await self._lost.wait()
        if self._lost.is_set():
            log.warning("the connection that hears of others is lost; it is opened again")
            self._drop()
        else:
            if await self._take_wanted():
                self._locks_moved()
            await self._ask("SELECT 1")

    async def _open(self) -> bool:
        self._lost.clear()
        try:
            self._connection = await self._connect()
            self._connection.add_termination_listener(lambda _: self._lost.set())
            await self._connection.add_listener(CHANNEL, lambda *_: self._heard())
        except _GONE as error:
            self._trouble.met(error)
            self._is_deaf = isinstance(error, Deaf)
            self._drop()
            return False
        self._is_deaf = False
        self._trouble.end()
        await self._take_wanted()
        self._heard()
        return True

    async def _take_wanted(self) -> bool:
        """Was there one to take? One at a time: a session that takes a lock twice has to release it
        twice."""
        before = len(self._held)
        async with self._takes:
            for key in self._wanted - self._held:
                connection = self._connection
                if await self._ask(_TAKE, key) and self._connection is connection:
                    self._held.add(key)
        return len(self._held) > before

    async def _ask(self, statement: str, *values: int) -> object:
        """None where there is no connection, or it turns out to be lost."""
        async with self._is_free:
            if self._connection is None:
                return None
            try:
                async with asyncio.timeout(ANSWERS_WITHIN):
                    return await self._connection.fetchval(statement, *values)
            except _GONE:
                self._lost.set()
                return None

    def _drop(self) -> None:
        connection, self._connection = self._connection, None
        self._held.clear()
        if connection is not None:
            connection.terminate()
            self._locks_moved()
