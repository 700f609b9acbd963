"""What is SQLite's own: how a connection is prepared, how a write begins, how a file is made.

Writes begin with ``BEGIN IMMEDIATE``: a transaction that reads first and writes later fails at once
when another one commits in between, whatever time-out is set. Waiting for the write lock is our own
loop of short random sleeps, in which whoever has waited long comes first: SQLite's ``busy_timeout`` starves
some processes for seconds.
"""

from __future__ import annotations

import os
import random
import sqlite3
import time
from collections.abc import Callable, Collection, Sequence
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from threading import Event
from typing import Any, TypeVar

from sqlalchemy import URL, Connection, Engine, PoolProxiedConnection, create_engine, event
from sqlalchemy.dialects.sqlite.aiosqlite import AsyncAdapt_aiosqlite_connection
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from agent.errors import ConfigError, StoreUnavailable
from agent.rules.ids import RunId
from store.failures import is_busy
from store.groups import in_whole
from store.instants import as_number
from store.mounts import must_be_local
from store.moving_in_file import move_together
from store.next_writer import NextWriter
from store.plain import Move
from store.same_file import SameFile
from store.wakeups import forget_stirring, is_stirred

T = TypeVar("T")

#: How the file is named where nobody names it.
DEFAULT_NAME = "pilothouse.db"
#: How long a reader waits: only a recovery after a crash makes it wait at all.
_READER_PATIENCE_SECONDS = 5
_READERS = 4
#: In bytes. While somebody reads for long, a backup say, the log next to the file grows; once it has been filled into
#: the file, no more than this of it is kept.
LARGEST_LOG = 16_000_000
#: The first that knows RETURNING and MATERIALIZED.
_OLDEST = (3, 35, 0)


def check_version() -> None:
    """Raises ``ConfigError`` where this Python's SQLite is too old for the statements used here."""
    if sqlite3.sqlite_version_info < _OLDEST:
        raise ConfigError(
            f"This Python has SQLite {sqlite3.sqlite_version}; the store needs 3.35 or newer."
        )


def is_file_there(path: Path) -> bool:
    """Raises ``ConfigError`` for a place on a network file system, ``StoreUnavailable`` where only the file itself is
    missing: SQLite would take the log beside a new one away, or read it into that."""
    must_be_local(path)
    log = path.with_name(f"{path.name}-wal")
    # Whoever makes it makes it before the log: looked for in this order, one that is only being made is no such case.
    if log.exists() and not path.exists():
        raise StoreUnavailable(
            f"The database file {path} is not there, but {log.name} beside it is, in which what was written last may"
            " be. Nothing was made in its place. Put the file back, or, to begin with an empty one, stop all processes"
            f" on it and move {log.name} away."
        )
    return path.exists()


def create_file(path: Path) -> None:
    """Make folder and file where they are missing, readable by their owner alone: they hold what
    people wrote. SQLite gives its side files the mode of the file."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except FileExistsError:
        return


def folder_beside(path: Path) -> Path:
    """Where the processes on this file keep what they have for each other: beside it, in a folder that
    nobody else uses. The default file's is the one that it is in, which was made for it."""
    path = path.resolve()
    return path.parent if path.name == DEFAULT_NAME else path.with_name(f"{path.name}.pilothouse")


class SqliteTransactions:
    """The ``Transactions`` of a file. ``tell`` is called after each commit that concerns others."""

    locks_rows = False
    #: There are no rows to wait for; what is waited for is the file, before a work begins.
    turn = patience = timedelta()

    def __init__(
        self,
        path: Path,
        patience: timedelta,
        tell: Callable[[], None] = lambda: None,
        next_writer: NextWriter | None = None,
        *,
        wipes: bool = False,
    ) -> None:
        """``next_writer``: by default the one beside the file. ``wipes``: what is replaced or deleted does not
        stay in the file."""
        self._is_given_up = Event()
        self._next = next_writer or NextWriter(folder_beside(path))
        self._engine = writing_engine(path, patience, self._is_given_up, self._next, wipes=wipes)
        self._same = _must_stay(self._engine, path)
        #: Kept from one move to the next: lending it costs as much as the statements of one append.
        self._borrowed: PoolProxiedConnection | None = None
        self._patience = patience
        self._tell = tell

    def run(self, work: Callable[[Connection], T], waits: timedelta | None = None) -> T:
        self._give_back()
        with self._engine.connect() as connection:
            forget_stirring(connection)
            value = in_whole(connection, work)
            if is_stirred(connection):
                self._tell()
        return value

    def move(self, moves: Sequence[Move], now: datetime | None) -> Collection[RunId]:
        assert now is not None, "a file has no clock of its own"
        # As ``run``, without what SQLAlchemy does around a transaction.
        try:
            driver = self._borrow()
            begin = partial(driver.execute, "BEGIN IMMEDIATE")
            _insist(begin, self._patience, self._is_given_up, self._next)
            moved, concerns_others = move_together(driver, moves, as_number(now))
            driver.commit()
        except BaseException:
            # What was not committed is undone by that.
            self._give_back()
            raise
        if concerns_others:
            self._tell()
        return moved

    def give_up(self) -> None:
        self._is_given_up.set()

    def dispose(self) -> None:
        self._give_back()
        self._engine.dispose()
        self._next.close()

    def _borrow(self) -> sqlite3.Connection:
        if self._borrowed is None:
            self._borrowed = self._engine.raw_connection()
        else:
            self._same.must_be_there()
        driver = self._borrowed.driver_connection
        assert isinstance(driver, sqlite3.Connection), "a connection that is lent is open"
        return driver

    def _give_back(self) -> None:
        if self._borrowed is not None:
            borrowed, self._borrowed = self._borrowed, None
            borrowed.close()


def writing_engine(
    path: Path,
    patience: timedelta,
    is_given_up: Event,
    next_writer: NextWriter,
    *,
    wipes: bool = False,
) -> Engine:
    """One connection, for one thread. Each transaction holds the write lock from its beginning;
    who can't have it for ``patience``, or before it is given up, gets ``sqlite3.OperationalError``."""

    def insist(execute: Callable[[], Any]) -> None:
        _insist(execute, patience, is_given_up, next_writer)

    engine = create_engine(
        URL.create("sqlite", database=str(path)),
        connect_args={"timeout": 0},
        pool_size=1,
        max_overflow=0,
    )

    @event.listens_for(engine, "connect")
    def prepare(connection: sqlite3.Connection, _: object) -> None:
        connection.isolation_level = None
        connection.text_factory = _readable
        insist(lambda: connection.execute("PRAGMA journal_mode=WAL").fetchall())
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute("PRAGMA foreign_keys=ON")
        connection.execute(f"PRAGMA journal_size_limit={LARGEST_LOG}").fetchall()
        if wipes:
            connection.execute("PRAGMA secure_delete=ON").fetchall()

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        cursor = _driver(connection).cursor()
        insist(lambda: cursor.execute("BEGIN IMMEDIATE"))
        cursor.close()

    return engine


def lock_migrations(connection: Connection) -> None:
    """Each transaction has the lock from its beginning."""


def reading_engine(path: Path) -> AsyncEngine:
    """Connections that can't write. Each statement sees what was committed when it began."""
    engine = create_async_engine(
        URL.create("sqlite+aiosqlite", database=str(path)),
        connect_args={"timeout": _READER_PATIENCE_SECONDS},
        pool_size=_READERS,
        max_overflow=0,
        # Nothing is begun that would have to be rolled back.
        isolation_level="AUTOCOMMIT",
        skip_autocommit_rollback=True,
    )

    @event.listens_for(engine.sync_engine, "connect")
    def prepare(connection: AsyncAdapt_aiosqlite_connection, _: object) -> None:
        connection.driver_connection.text_factory = _readable
        cursor = connection.cursor()
        cursor.execute("PRAGMA query_only=ON")
        try:
            # The first read opens the files beside it, which whoever closes last would take away until then.
            cursor.execute("PRAGMA schema_version")
        except BaseException:
            connection.close()  # nobody else does
            raise
        cursor.close()

    _must_stay(engine.sync_engine, path)
    return engine


def watching_connection(path: Path) -> sqlite3.Connection:
    """A connection of its own, never inside a transaction: ``PRAGMA data_version`` on it moves with
    each commit of any other."""
    return sqlite3.connect(path, timeout=0, isolation_level=None)


def _must_stay(engine: Engine, path: Path) -> SameFile:
    """Nothing is opened, written or read there but the file that is there now."""
    same = SameFile(path)

    @event.listens_for(engine, "do_connect")
    def before_opening(*_: object) -> None:
        same.must_be_there()

    @event.listens_for(engine, "connect")
    def opened(*_: object) -> None:
        same.opened()

    @event.listens_for(engine, "close")
    def closed(*_: object) -> None:
        same.closed()

    @event.listens_for(engine, "checkout")
    def before_use(*_: object) -> None:
        same.must_be_there()

    return same


def _readable(text: bytes) -> str:
    """A file's text is any bytes. Refused by the driver, one such row would keep all those beside it
    from being read."""
    return text.decode(errors="backslashreplace")


def _driver(connection: Connection) -> DBAPIConnection:
    driver = connection.connection.dbapi_connection
    assert driver is not None, "a connection that begins is open"
    return driver


def _insist(
    execute: Callable[[], Any], patience: timedelta, is_given_up: Event, next_writer: NextWriter
) -> None:
    """Again while it is locked, until it works, ``patience`` is over or it is given up. A lock is mostly held for a
    millisecond; for one that is held long, as by a migration, the looks become rarer."""
    began_at = time.monotonic()
    with next_writer.waiting():
        while True:
            waited = time.monotonic() - began_at
            is_over = waited >= patience.total_seconds() or is_given_up.is_set()
            if is_over or next_writer.may_ask():
                try:
                    execute()
                    return
                except sqlite3.OperationalError as error:
                    if is_over or not is_busy(error):
                        raise
            rarer = min(1 + waited * (1 if next_writer.has_turn() else 20), 10)
            is_given_up.wait(random.uniform(0.0003, 0.0013) * rarer)
