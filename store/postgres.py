"""What is PostgreSQL's own: how a connection is opened, how works are run on it, who is told.

The driver is asynchronous and the writer's works are not: they run on a loop of the writer's own thread,
which runs only while it has something to do.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import timedelta
from typing import Any, TypeVar
from uuid import uuid4

import asyncpg
from sqlalchemy import URL, Connection, event, text
from sqlalchemy.engine import ExceptionContext
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from agent.errors import ConfigError, StoreUnavailable
from store.groups import in_whole
from store.keepalive import SERVER_SETTINGS, KeptAlive
from store.listening import CHANNEL
from store.wakeups import forget_stirring, is_stirred

T = TypeVar("T")

#: Of the lock under which one process migrates.
MIGRATION_LOCK = 6085301733129477

_READERS = 4
#: The oldest that its makers still look after.
_OLDEST = 14
#: Seconds for a connection, and for an answer beyond the patience with which a lock is waited for.
_CONNECTS_WITHIN, _ANSWERS_WITHIN = 5.0, 2.0
_STATEMENTS_KEPT = 100
#: Who stops in the middle of a transaction keeps others from its rows no longer than this.
_IDLE_IN_TRANSACTION = timedelta(seconds=15)
_DRIVER = "postgresql+asyncpg://"

# A migration is waited for, however long it takes; while it waits for a table itself others wait for it.
_WAIT_LONG = text("SET LOCAL lock_timeout = 0")
_WAIT_AS_EVER = text("SET LOCAL lock_timeout = DEFAULT")
_LOCK_MIGRATIONS = text(f"SELECT pg_advisory_xact_lock({MIGRATION_LOCK})")
_SET = text("SELECT set_config(:name, :value, true)")
_TELL = text(f"SELECT pg_notify('{CHANNEL}', '')")


class Server:
    """Where a database is, and how it is reached.

    Behind a pooler (``is_pooled``) each transaction may have another connection: nothing is left on one,
    and nothing done outside a transaction. A wait for another's lock is given up after ``patience``, and
    one for an answer a little later, unless it ``is_patient``: a network that is gone is known sooner.
    """

    def __init__(
        self,
        url: URL,
        patience: timedelta,
        *,
        is_pooled: bool = False,
        is_patient: bool = False,
    ) -> None:
        self._dsn = url.set(drivername="postgresql").render_as_string(hide_password=False)
        self._is_pooled = is_pooled
        self._was_reached = False
        self._answers_within = None if is_patient else patience.total_seconds() + _ANSWERS_WITHIN
        self._limits = {
            "lock_timeout": _milliseconds(patience),
            "idle_in_transaction_session_timeout": _milliseconds(_IDLE_IN_TRANSACTION),
        }

    async def connect(self) -> asyncpg.Connection:
        """Raises ``ConfigError`` for a URL or a server that can't be used, ``StoreUnavailable``."""
        limits = {} if self._is_pooled else self._limits | SERVER_SETTINGS
        try:
            connection = await asyncpg.connect(
                self._dsn,
                timeout=_CONNECTS_WITHIN,
                command_timeout=self._answers_within,
                server_settings={"application_name": "pilothouse", **limits},
                connection_class=KeptAlive,
                statement_cache_size=0 if self._is_pooled else _STATEMENTS_KEPT,
            )
        except asyncpg.exceptions.ClientConfigurationError as error:
            if self._was_reached:  # a certificate that is being replaced, say: not for good
                raise StoreUnavailable(f"The database can't be opened: {error}") from error
            raise ConfigError("The database URL can't be used: see its parameters.") from error
        except TimeoutError as error:
            raise StoreUnavailable("The database does not answer.") from error
        except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError) as error:
            raise StoreUnavailable(f"The database can't be opened: {error}") from error
        if connection.get_server_version().major < _OLDEST:
            await connection.close()
            raise ConfigError(f"The store needs PostgreSQL {_OLDEST} or newer.")
        self._was_reached = True
        return connection

    def reading_engine(self) -> AsyncEngine:
        """Connections for single statements: each sees what was committed when it began."""
        if self._is_pooled:
            return self.engine(pool_size=_READERS)
        return self.engine(pool_size=_READERS, isolation_level="AUTOCOMMIT")

    def engine(self, **options: Any) -> AsyncEngine:
        pooled = {
            "prepared_statement_cache_size": 0,
            "prepared_statement_name_func": lambda: f"pilothouse_{uuid4().hex}",
        }
        engine = create_async_engine(
            _DRIVER,
            async_creator=lambda **_: self.connect(),
            connect_args=pooled if self._is_pooled else {},
            max_overflow=0,
            **options,
        )
        event.listen(engine.sync_engine, "handle_error", _give_up)
        return engine

    def set_limits(self, connection: Connection) -> None:
        """For this transaction, where they can't be set for the connection."""
        if self._is_pooled:
            for name, value in self._limits.items():
                connection.execute(_SET, {"name": name, "value": value})


class PostgresTransactions:
    """The ``Transactions`` of a server, over one connection."""

    locks_rows = True

    def __init__(self, server: Server) -> None:
        self._runner = asyncio.Runner()
        self._server = server
        self._engine = server.engine(pool_size=1)
        self._running: asyncio.Task[Any] | None = None
        self._is_given_up = False

    def run(self, work: Callable[[Connection], T]) -> T:
        has_begun = False

        def limited(connection: Connection) -> T:
            nonlocal has_begun
            forget_stirring(connection)
            self._server.set_limits(connection)
            has_begun = True
            value = work(connection)
            if is_stirred(connection):
                connection.execute(_TELL)
            return value

        try:
            return self._runner.run(self._run(limited))
        except DBAPIError as error:
            if has_begun or not error.connection_invalidated:
                raise
        # It had been lost while nobody used it; another one may be had.
        return self._runner.run(self._run(limited))

    def give_up(self) -> None:
        self._is_given_up = True
        if (running := self._running) is not None:
            running.get_loop().call_soon_threadsafe(running.cancel)

    def dispose(self) -> None:
        with self._runner:
            self._runner.run(self._engine.dispose())

    async def _run(self, work: Callable[[Connection], T]) -> T:
        self._running = asyncio.current_task()
        try:
            if self._is_given_up:
                raise StoreUnavailable("The store is closed.")
            async with self._engine.connect() as connection:
                return await connection.run_sync(in_whole, work)
        finally:
            self._running = None


def lock_migrations(connection: Connection) -> None:
    """Wait until no other process migrates; the others wait until this transaction ends."""
    connection.execute(_WAIT_LONG)
    connection.execute(_LOCK_MIGRATIONS)
    connection.execute(_WAIT_AS_EVER)


def _give_up(context: ExceptionContext) -> BaseException | None:
    """A connection that does not answer is never asked again, not even to undo something."""
    if not isinstance(context.original_exception, TimeoutError):
        return None
    context.is_disconnect = True
    if context.connection is not None and context.connection.connection.driver_connection:
        context.connection.connection.driver_connection.terminate()
    return StoreUnavailable("The database does not answer.")


def _milliseconds(duration: timedelta) -> str:
    return str(max(1, round(duration / timedelta(milliseconds=1))))
