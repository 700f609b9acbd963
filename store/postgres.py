"""What is PostgreSQL's own: how a connection is opened, how works are run on it, who is told.

The driver is asynchronous and the writer's works are not: they run on a loop of the writer's own thread,
which runs only while it has something to do.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import TypeVar

import asyncpg
from sqlalchemy import URL, Connection, event, text
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from agent.errors import ConfigError, StoreUnavailable
from store.listening import CHANNEL
from store.wakeups import is_stirred

T = TypeVar("T")
Connect = Callable[[], Awaitable[asyncpg.Connection]]

_READERS = 4
#: The oldest that its makers still look after.
_OLDEST = 14
_CONNECTS_WITHIN, _ANSWERS_WITHIN = 10.0, 60.0
#: Who stops in the middle of a transaction keeps others from its rows no longer than this.
_IDLE_IN_TRANSACTION = timedelta(seconds=15)
_DRIVER = "postgresql+asyncpg://"

# Long migrations are waited for, however long; all other waiting has its limit.
_WAIT_LONG = text("SET LOCAL lock_timeout = 0")
_LOCK_MIGRATIONS = text("SELECT pg_advisory_xact_lock(6085301733129477)")
_TELL = text(f"SELECT pg_notify('{CHANNEL}', '')")


class PostgresTransactions:
    """The ``Transactions`` of a server, over one connection."""

    def __init__(self, connect: Connect) -> None:
        self._runner = asyncio.Runner()
        self._engine = create_async_engine(
            _DRIVER, async_creator=connect, pool_size=1, max_overflow=0
        )

        @event.listens_for(self._engine.sync_engine, "commit")
        def tell(connection: Connection) -> None:
            if is_stirred(connection):
                connection.execute(_TELL)

    def run(self, work: Callable[[Connection], T]) -> T:
        return self._runner.run(self._run(work))

    def dispose(self) -> None:
        with self._runner:
            self._runner.run(self._engine.dispose())

    async def _run(self, work: Callable[[Connection], T]) -> T:
        async with self._engine.begin() as connection:
            return await connection.run_sync(work)


def connector(url: URL, patience: timedelta) -> Connect:
    """Opens connections to ``url``. A wait for another's lock is given up after ``patience``. What it
    opens raises ``ConfigError`` for a URL or a server that can't be used, ``StoreUnavailable``."""
    dsn = url.set(drivername="postgresql").render_as_string(hide_password=False)
    settings = {
        "application_name": "pilothouse",
        "lock_timeout": _milliseconds(patience),
        "idle_in_transaction_session_timeout": _milliseconds(_IDLE_IN_TRANSACTION),
        "default_transaction_isolation": "read committed",
    }

    async def connect() -> asyncpg.Connection:
        try:
            connection = await asyncpg.connect(
                dsn,
                timeout=_CONNECTS_WITHIN,
                command_timeout=_ANSWERS_WITHIN,
                server_settings=settings,
            )
        except asyncpg.exceptions.ClientConfigurationError as error:
            raise ConfigError("The database URL can't be used: see its parameters.") from error
        except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError) as error:
            raise StoreUnavailable(f"The database can't be opened: {error}") from error
        if connection.get_server_version().major < _OLDEST:
            await connection.close()
            raise ConfigError(f"The store needs PostgreSQL {_OLDEST} or newer.")
        return connection

    return connect


def reading_engine(connect: Connect) -> AsyncEngine:
    """Connections for single statements: each sees what was committed when it began."""
    return create_async_engine(
        _DRIVER,
        async_creator=connect,
        isolation_level="AUTOCOMMIT",
        pool_size=_READERS,
        max_overflow=0,
    )


def lock_migrations(connection: Connection) -> None:
    """Wait until no other process migrates; the others wait until this transaction ends."""
    connection.execute(_WAIT_LONG)
    connection.execute(_LOCK_MIGRATIONS)


def _milliseconds(duration: timedelta) -> str:
    return str(max(1, round(duration / timedelta(milliseconds=1))))
