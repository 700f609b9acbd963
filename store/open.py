"""A URL becomes a store: the one place that knows which database there is."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from sqlalchemy import make_url
from sqlalchemy.exc import ArgumentError

from agent.errors import ConfigError
from agent.ports import Clock
from store import sqlite
from store.clock import SystemClock
from store.control import SqlControl
from store.failures import as_store_errors
from store.journal import SqlJournal
from store.lease_tables import RUNS, THREADS
from store.leases import SqlLeases
from store.life_locks import LifeLocks
from store.lists import SqlLists
from store.migrations import migrate
from store.processes import SqlProcesses
from store.reader import Reader
from store.threads import SqlThreads
from store.wakeups import SqliteWakeups
from store.writer import Writer

#: How long a write waits for another process's transaction before it gives up.
PATIENCE = timedelta(seconds=10)


@dataclass(frozen=True)
class SqlStore:
    """The ``Store`` port over SQL. Belongs to the event loop on which it was opened."""

    clock: Clock
    journal: SqlJournal
    run_leases: SqlLeases
    thread_leases: SqlLeases
    threads: SqlThreads
    lists: SqlLists
    control: SqlControl
    wakeups: SqliteWakeups
    processes: SqlProcesses
    _writer: Writer = field(repr=False)
    _reader: Reader = field(repr=False)

    async def close(self) -> None:
        """Finish what waits, then let go of everything. Twice is once."""
        self.processes.close()
        self.wakeups.close()
        await self._writer.close()
        await self._reader.close()


async def open_store(
    url: str,
    *,
    clock: Clock | None = None,
    data: Path | None = None,
    patience: timedelta = PATIENCE,
) -> SqlStore:
    """The store at ``sqlite:///PATH``; file, folder and tables are made where they are missing.

    ``data`` is the folder for what processes keep beside the database (by default, the file's own).
    Raises ``ConfigError`` for a URL that can't be used, ``StoreUnavailable`` for a database that
    can't be opened.
    """
    path = _sqlite_path(url)
    sqlite.check_version()
    writing = sqlite.writing_engine(path, patience)
    try:
        with as_store_errors():
            await asyncio.to_thread(sqlite.create_file, path)
            await asyncio.to_thread(migrate, writing)
            watching = sqlite.watching_connection(path)
    except BaseException:
        writing.dispose()
        raise
    writer, reader = Writer(writing), Reader(sqlite.reading_engine(path))
    return _assemble(writer, reader, SqliteWakeups(watching), clock, data or path.parent)


def _assemble(
    writer: Writer, reader: Reader, wakeups: SqliteWakeups, clock: Clock | None, data: Path
) -> SqlStore:
    clock = clock or SystemClock()
    return SqlStore(
        clock=clock,
        journal=SqlJournal(writer, reader, clock, wakeups.moved),
        run_leases=SqlLeases(RUNS, writer, clock),
        thread_leases=SqlLeases(THREADS, writer, clock),
        threads=SqlThreads(writer, reader, clock, wakeups.moved),
        lists=SqlLists(reader, clock),
        control=SqlControl(writer, reader),
        wakeups=wakeups,
        processes=SqlProcesses(writer, reader, clock, LifeLocks(data / "processes")),
        _writer=writer,
        _reader=reader,
    )


def _sqlite_path(url: str) -> Path:
    """Where the file is, whatever folder the process goes to later."""
    try:
        parsed = make_url(url)
    except ArgumentError as error:
        raise ConfigError("The database URL can't be read; use sqlite:///PATH.") from error
    backend = parsed.get_backend_name()
    if backend == "postgresql":
        raise ConfigError("PostgreSQL comes in a later version; use sqlite:///PATH for now.")
    if backend != "sqlite":
        raise ConfigError(f"There is no store on {backend}; use sqlite:///PATH.")
    if not parsed.database or parsed.database == ":memory:" or parsed.query:
        raise ConfigError("The store needs a file of its own: sqlite:///PATH, with nothing behind.")
    return Path(parsed.database).absolute()
