"""What is PostgreSQL's own about writing: how works are run on it, who is told, who migrates.

The driver is asynchronous and the writer's works are not: they run on a loop of the writer's own thread,
which runs only while it has something to do.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any, TypeVar

from sqlalchemy import Connection, text
from sqlalchemy.ext.asyncio import AsyncConnection

from agent.errors import StoreUnavailable
from store.groups import in_whole
from store.listening import TELL
from store.server import Server, wait_for_locks
from store.wakeups import forget_stirring, is_stirred

T = TypeVar("T")

#: Of the lock under which one process migrates.
MIGRATION_LOCK = 6085301733129477
#: A row that somebody has is waited for in turns of so long, and what else is to be written comes between.
TURN = timedelta(seconds=0.2)

# A migration is waited for, however long it takes; while it waits for a table itself others wait for it,
# so that has its end. The old value by name: behind a pooler the default is the server's, which is none.
_LOCK_TIMEOUT = text("SELECT current_setting('lock_timeout')")
_WAIT_LONG = text("SET LOCAL lock_timeout = 0")
_WAIT_AS_BEFORE = text("SELECT set_config('lock_timeout', :before, true)")
# Nor is a step given up in the middle where the server lets no statement go on for long.
_TAKE_TIME = text("SET LOCAL statement_timeout = 0")
_LOCK_MIGRATIONS = text(f"SELECT pg_advisory_xact_lock({MIGRATION_LOCK})")
_TELL = text(TELL)


class PostgresTransactions:
    """The ``Transactions`` of a server, over one connection."""

    locks_rows = True

    def __init__(self, server: Server, turn: timedelta = TURN) -> None:
        self.patience = server.patience
        self.turn = min(turn, server.patience)
        self._runner = asyncio.Runner()
        self._server = server
        self._engine = server.engine(self.turn, pool_size=1)
        self._running: asyncio.Task[Any] | None = None
        self._is_given_up = False

    def run(self, work: Callable[[Connection], T], waits: timedelta | None = None) -> T:
        def limited(connection: Connection) -> T:
            forget_stirring(connection)
            self._server.set_limits(connection, self.turn)
            if waits is not None:
                wait_for_locks(connection, waits)
            value = work(connection)
            if is_stirred(connection):
                connection.execute(_TELL)
            return value

        return self._runner.run(self._run(limited))

    def give_up(self) -> None:
        self._is_given_up = True
        if (running := self._running) is not None:
            running.get_loop().call_soon_threadsafe(running.cancel)

    def dispose(self) -> None:
        with self._runner:
            self._runner.run(self._engine.dispose())

    async def _run(self, work: Callable[[Connection], T]) -> T:
        async with self._connected() as connection:
            return await connection.run_sync(in_whole, work)

    @asynccontextmanager
    async def _connected(self) -> AsyncIterator[AsyncConnection]:
        self._running = asyncio.current_task()
        try:
            if self._is_given_up:
                raise StoreUnavailable("The store is closed.")
            async with self._engine.connect() as connection:
                yield connection
        finally:
            self._running = None


def lock_migrations(connection: Connection) -> None:
    """Wait until no other process migrates; the others wait until this transaction ends, of which no statement is
    given up for its length."""
    before = connection.execute(_LOCK_TIMEOUT).scalar_one()
    connection.execute(_TAKE_TIME)
    connection.execute(_WAIT_LONG)
    connection.execute(_LOCK_MIGRATIONS)
    connection.execute(_WAIT_AS_BEFORE, {"before": before})
