"""Where a PostgreSQL is, and how it is reached: directly, or through a pooler."""

from __future__ import annotations

import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from typing import Any
from uuid import uuid4

import asyncpg
from sqlalchemy import URL, Connection, event, text
from sqlalchemy.engine import ExceptionContext
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from agent.errors import ConfigError, StoreUnavailable
from store.keepalive import SERVER_SETTINGS, KeptAlive
from store.reasons import READ_ONLY, in_a_line, sqlstate

_READERS = 4
#: The oldest that its makers still look after.
_OLDEST = 14
#: Seconds for a connection, and for an answer beyond the patience with which a lock is waited for.
_CONNECTS_WITHIN, _ANSWERS_WITHIN = 5.0, 2.0
_STATEMENTS_KEPT = 100
#: Who stops in the middle of a transaction keeps others from its rows no longer than this.
_IDLE_IN_TRANSACTION = timedelta(seconds=15)
_DRIVER = "postgresql+asyncpg://"
_NO_SETTINGS: Mapping[str, str] = {}

_SET = text("SELECT set_config(:name, :value, true)")
#: What a pooler says that lets no client have settings of its own.
_REFUSES_SETTINGS = "startup parameter"


class Server:
    """Where a database is, and how it is reached.

    Behind a pooler (``is_pooled``) each transaction may have another connection: nothing is left on one,
    and nothing done outside a transaction. That there is one is said, or seen when a connection is opened.
    A wait for another's lock is given up after ``patience``, and one for an answer a little later, unless
    it ``is_patient``: a network that is gone is known sooner.
    """

    def __init__(
        self,
        url: URL,
        patience: timedelta,
        *,
        is_pooled: bool = False,
        is_patient: bool = False,
        setting: str = "PILOTHOUSE_DATABASE_URL",
    ) -> None:
        """``setting`` names the URL for whoever has to mend it."""
        self._url = url
        self._setting = setting
        self._dsn = url.set(drivername="postgresql").render_as_string(hide_password=False)
        self._was_reached = False
        self._answers_within = None if is_patient else patience.total_seconds() + _ANSWERS_WITHIN
        self.patience = patience
        self.is_pooled = is_pooled
        #: Does the server say that something is committed before it is on its disk?
        self._answers_early = False

    async def look(self) -> None:
        """Is there a pooler in between, and what is a commit worth? To be known before there is an engine.
        Raises as ``connect``."""
        connection = await self.connect()
        try:
            with self._as_store_errors():
                self._answers_early = await _answers_early(connection)
                await connection.close()
        except BaseException:
            connection.terminate()
            raise

    def patiently(self) -> Server:
        """The same one, whose answers are waited for, however long they take."""
        same = Server(
            self._url,
            self.patience,
            is_pooled=self.is_pooled,
            is_patient=True,
            setting=self._setting,
        )
        same._answers_early = self._answers_early
        return same

    async def connect(
        self, waits: timedelta | None = None, settings: Mapping[str, str] = _NO_SETTINGS
    ) -> asyncpg.Connection:
        """``waits`` instead of ``patience`` for a lock; ``settings`` of the server's besides, which no connection
        behind a pooler has. Raises ``ConfigError`` for a URL or a server that can't be used,
        ``StoreUnavailable``."""
        with self._as_store_errors():
            connection = await self._connect(waits, settings)
            if connection.get_server_version().major < _OLDEST:
                await connection.close()
                raise ConfigError(f"The store needs PostgreSQL {_OLDEST} or newer.")
        self._was_reached = True
        return connection

    def reading_engine(self) -> AsyncEngine:
        """Connections for single statements: each sees what was committed when it began."""
        if self.is_pooled:
            return self.engine(pool_size=_READERS)
        return self.engine(pool_size=_READERS, isolation_level="AUTOCOMMIT")

    def engine(self, waits: timedelta | None = None, **options: Any) -> AsyncEngine:
        # Also where the database begins its transactions otherwise: who has waited for a lock is to see what was
        # committed before it got it.
        options = {"isolation_level": "READ COMMITTED", **options}
        pooled = {
            "prepared_statement_cache_size": 0,
            "prepared_statement_name_func": lambda: f"pilothouse_{uuid4().hex}",
        }
        engine = create_async_engine(
            _DRIVER,
            async_creator=lambda **_: self.connect(waits),
            connect_args=pooled if self.is_pooled else {},
            max_overflow=0,
            **options,
        )
        event.listen(engine.sync_engine, "handle_error", _give_up)
        return engine

    def set_limits(self, connection: Connection, waits: timedelta | None = None) -> None:
        """For this transaction, where they can't be set for the connection."""
        if self.is_pooled:
            for name, value in self._limits(waits).items():
                connection.execute(_SET, {"name": name, "value": value})

    async def _connect(
        self, waits: timedelta | None, settings: Mapping[str, str]
    ) -> asyncpg.Connection:
        if not self.is_pooled:
            try:
                connection = await self._open(
                    {**self._limits(waits), **SERVER_SETTINGS, **settings}
                )
            except asyncpg.ProtocolViolationError as error:
                if _REFUSES_SETTINGS not in str(error):
                    raise
            else:
                try:
                    if await _is_its_own(connection):
                        return connection
                    await connection.close()
                except BaseException:
                    # Also who stops waiting, as a store that is closed while it connects again.
                    connection.terminate()
                    raise
            self.is_pooled = True
        return await self._open({})

    async def _open(self, settings: dict[str, str]) -> asyncpg.Connection:
        return await asyncpg.connect(
            self._dsn,
            timeout=_CONNECTS_WITHIN,
            command_timeout=self._answers_within,
            server_settings={"application_name": "pilothouse", **settings},
            connection_class=KeptAlive,
            statement_cache_size=0 if self.is_pooled else _STATEMENTS_KEPT,
        )

    @contextmanager
    def _as_store_errors(self) -> Iterator[None]:
        try:
            yield
        except asyncpg.exceptions.ClientConfigurationError as error:
            if self._was_reached:  # a certificate that is being replaced, say: not for good
                raise StoreUnavailable(
                    f"{self._where} can't be opened: {in_a_line(error)}."
                ) from error
            raise ConfigError(f"{self._setting} can't be used: see its parameters.") from error
        except TimeoutError as error:
            raise StoreUnavailable(f"{self._where} does not answer.") from error
        except socket.gaierror as error:
            raise StoreUnavailable(
                f"{self._where} can't be found: {error.strerror}. (In {self._setting} a password's own @, /,"
                " : and % are written %40, %2F, %3A and %25.)"
            ) from error
        except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError) as error:
            raise StoreUnavailable(f"{self._where} can't be opened: {in_a_line(error)}.") from error

    @property
    def _where(self) -> str:
        """With nothing of a password."""
        named = f"the host {self._url.host}" if self._url.host else "this host"
        return f"The database of {self._setting} on {named}"

    def _limits(self, waits: timedelta | None) -> dict[str, str]:
        return {
            "lock_timeout": milliseconds(self.patience if waits is None else waits),
            "idle_in_transaction_session_timeout": milliseconds(_IDLE_IN_TRANSACTION),
            # What is acted upon must outlive a crash of the server.
            **({"synchronous_commit": "local"} if self._answers_early else {}),
        }


def wait_for_locks(connection: Connection, waits: timedelta) -> None:
    """Until this transaction ends."""
    connection.execute(_SET, {"name": "lock_timeout", "value": milliseconds(waits)})


def milliseconds(duration: timedelta) -> str:
    return str(max(1, round(duration / timedelta(milliseconds=1))))


async def _is_its_own(connection: asyncpg.Connection) -> bool:
    """Does the server's process answer that this connection was told of? A pooler tells of itself.

    Asked in one message, without a prepared statement, which would be left with a pooler's connection."""
    told = int(connection.get_server_pid())
    answer = await connection.execute(f"SELECT 1 WHERE pg_backend_pid() = {told}")
    return answer == "SELECT 1"


async def _answers_early(connection: asyncpg.Connection) -> bool:
    answer = await connection.execute(
        "SELECT 1 WHERE current_setting('synchronous_commit') = 'off'"
    )
    return answer == "SELECT 1"


def _give_up(context: ExceptionContext) -> BaseException | None:
    """A connection that does not answer is never asked again, not even to undo something. One that can only read is
    not kept either: it would be so for good, also once the server takes writes again, or another one does."""
    if sqlstate(context.original_exception) == READ_ONLY:
        context.is_disconnect = True
    if not isinstance(context.original_exception, TimeoutError):
        return None
    context.is_disconnect = True
    if context.connection is not None and context.connection.connection.driver_connection:
        context.connection.connection.driver_connection.terminate()
    return StoreUnavailable("The database does not answer.")
