"""A URL becomes a store: the one place that knows which database there is."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import URL, Connection

from agent.errors import ConfigError, NoStore
from agent.ports import Clock
from store import key_registry, sqlite
from store.allowances import SqlAllowances
from store.clock import DatabaseClock, GivenClock, StoreClock, SystemClock
from store.control import SqlControl
from store.datagrams import tell
from store.failures import as_store_errors
from store.groups import Transactions
from store.journal import SqlJournal
from store.keys import NO_KEYS, Keys
from store.lease_tables import RUNS, THREADS
from store.leases import SqlLeases
from store.life_locks import LifeLocks
from store.limit_sums import SqlLimits
from store.lists import SqlLists
from store.lives import FileLives, Lives
from store.migrations import HEAD, is_behind, migrate, version
from store.migrations.floor import admit
from store.next_writer import NextWriter
from store.openings import SqlOpenings
from store.processes import SqlProcesses
from store.projections import SqlProjections
from store.purging import SqlPurges
from store.reader import Reader
from store.rotating import SqlRotation
from store.threads import SqlThreads
from store.urls import LISTEN_SETTING, SETTING, parse_urls, path_of
from store.verifying import SqlVerifier
from store.wakeups import HeardWakeups
from store.watching import WatchedWakeups
from store.writer import Writer

if TYPE_CHECKING:
    from store.server import Server

#: How long a write waits for another process's transaction before it gives up.
PATIENCE = timedelta(seconds=10)

_NOT_THERE = (
    f"There is no store {{where}}, and none was made. If it should be there, correct {SETTING}, or for a file"
    " PILOTHOUSE_DATA. To begin a new one: pilothouse db upgrade"
)


@dataclass(frozen=True)
class SqlStore:
    """The ``Store`` port over SQL. Belongs to the event loop on which it was opened."""

    clock: Clock
    journal: SqlJournal
    run_leases: SqlLeases
    thread_leases: SqlLeases
    threads: SqlThreads
    openings: SqlOpenings
    allowances: SqlAllowances
    lists: SqlLists
    control: SqlControl
    limits: SqlLimits
    wakeups: HeardWakeups
    processes: SqlProcesses
    projections: SqlProjections
    verifier: SqlVerifier
    rotation: SqlRotation
    purges: SqlPurges
    _database: _Database = field(repr=False)

    async def close(self) -> None:
        """Finish what waits, then let go of everything. Twice is once."""
        await self.processes.close()
        self.wakeups.close()
        await self._database.close()


@dataclass(frozen=True)
class _Database:
    """What differs from one kind of database to the other."""

    writer: Writer
    reader: Reader
    wakeups: HeardWakeups
    lives: Lives

    async def close(self) -> None:
        await self.lives.close()
        await self.writer.close()
        await self.reader.close()


async def open_store(
    url: str,
    *,
    clock: Clock | None = None,
    data: Path | None = None,
    listen_url: str | None = None,
    listens: bool = True,
    patience: timedelta = PATIENCE,
    keys: Keys = NO_KEYS,
    only_looks: bool = False,
    must_exist: bool = False,
) -> SqlStore:
    """The store at ``sqlite:///PATH`` or ``postgresql://USER@HOST/DATABASE``; tables, and a file and its
    folder, are made where they are missing.

    ``clock`` judges instead of the store's own. ``data`` is the folder for what processes keep beside a
    file, and of this file alone (by default, ``PATH.pilothouse``, and of a ``pilothouse.db`` its own).
    ``listen_url`` leads to the same server past a pooler; without ``listens`` what others do is only looked
    for. ``keys`` are those that facts are kept with (``parse_keys``): the newest is taken into use, all that are
    in use have to be there. ``only_looks``: nothing is made, brought up to date or taken into use. ``must_exist``:
    no store is made, and all else is done. Raises ``ConfigError`` for a URL that can't be used, for keys that are
    missing or wrong, and, for whoever only looks, where the tables are behind; ``NoStore`` where none is and none is
    to be made; ``StoreUnavailable`` for a database that can't be opened, ``SchemaRefused`` for tables that this build
    is too old for, and for a new key that a living process has not got.
    """
    parsed, listening_url = parse_urls(url, listen_url)
    if parsed.get_backend_name() == "sqlite":
        judge: StoreClock = GivenClock(clock or SystemClock())
        database, keys = await _open_file(
            path_of(parsed),
            data,
            listens,
            judge,
            patience,
            keys,
            only_looks=only_looks,
            must_exist=must_exist,
        )
    else:
        judge = GivenClock(clock) if clock else DatabaseClock()
        database, keys = await _open_server(
            parsed,
            listening_url,
            listens,
            judge,
            patience,
            keys,
            only_looks=only_looks,
            must_exist=must_exist,
        )
    return _assemble(database, clock, judge, keys)


async def _open_file(
    path: Path,
    data: Path | None,
    listens: bool,
    clock: StoreClock,
    patience: timedelta,
    keys: Keys,
    *,
    only_looks: bool,
    must_exist: bool,
) -> tuple[_Database, Keys]:
    sqlite.check_version()
    with as_store_errors():
        if not await asyncio.to_thread(sqlite.is_file_there, path):
            if only_looks or must_exist:
                raise NoStore(_NOT_THERE.format(where=f"at {path}"))
            await asyncio.to_thread(sqlite.create_file, path)
    folder = data or sqlite.folder_beside(path)
    listeners = LifeLocks(folder / "listeners")
    transactions = sqlite.SqliteTransactions(
        path, patience, lambda: tell(listeners), NextWriter(folder), wipes=bool(keys.encryption)
    )
    writer = Writer(transactions, movers=transactions)
    reader = Reader(sqlite.reading_engine(path))
    lives = FileLives(LifeLocks(folder / "processes"))
    try:
        if only_looks:
            keys = await _look_in(reader, clock, keys, f"at {path}")
        else:
            if must_exist:
                await writer.run(lambda c: _must_have_tables(c, f"at {path}"))
            if await writer.run(lambda c: _is_behind(c, keys)):
                await writer.run(lambda c: migrate(c, sqlite.lock_migrations))
            keys = await _enter(writer, clock, keys, lives, sqlite.lock_migrations)
        with as_store_errors():
            watching = sqlite.watching_connection(path)
    except BaseException:
        transactions.give_up()
        await writer.close()
        await reader.close()
        raise
    wakeups = WatchedWakeups(watching, listeners if listens else None)
    return _Database(writer, reader, wakeups, lives), keys


async def _open_server(
    url: URL,
    listening_url: URL,
    listens: bool,
    clock: StoreClock,
    patience: timedelta,
    keys: Keys,
    *,
    only_looks: bool,
    must_exist: bool,
) -> tuple[_Database, Keys]:
    # The driver takes a while to import, and only this needs it.
    from store import postgres
    from store.asking import AskedWakeups, what_has_ended
    from store.echo import connect_hearing
    from store.lane import PlainLane
    from store.listening import Listening
    from store.server import Server
    from store.session_lives import SessionLives

    server = await reach(url, listening_url, patience)
    transactions = postgres.PostgresTransactions(server)
    writer = Writer(transactions, lane=PlainLane(server, postgres.TURN))
    reader = Reader(server.reading_engine())
    setting = SETTING if listening_url == url else LISTEN_SETTING
    past_a_pooler = Server(listening_url, patience, setting=setting)
    listening = Listening(lambda: connect_hearing(past_a_pooler, reader), lambda: wakeups.moved())
    wakeups = AskedWakeups(lambda: reader.run(what_has_ended), lambda: listening.is_listening)
    database = _Database(writer, reader, wakeups, SessionLives(listening, reader, writer))
    try:
        where = f"in the database {url.database} that {SETTING} names"
        if only_looks:
            keys = await _look_in(reader, clock, keys, where)
        else:
            if must_exist:
                await writer.run(lambda c: _must_have_tables(c, where))
            if await writer.run(lambda c: _is_behind(c, keys)):
                # A step over large tables takes its time.
                migrating = postgres.PostgresTransactions(server.patiently(), turn=patience)
                await _run_once(migrating, lambda c: migrate(c, postgres.lock_migrations))
            keys = await _enter(writer, clock, keys, database.lives, postgres.lock_migrations)
        if listens:
            await listening.start()
    except BaseException:
        transactions.give_up()
        await database.close()
        raise
    return database, keys


async def reach(url: URL, listening_url: URL, patience: timedelta) -> Server:
    """The server of ``url``; whether it is reached through a pooler is said by a way of its own to listen,
    or seen. Raises ``ConfigError``, ``StoreUnavailable``."""
    from store.server import Server

    server = Server(url, patience, is_pooled=listening_url != url)
    await server.look()
    return server


async def _run_once(transactions: Transactions, work: Callable[[Connection], None]) -> None:
    writer = Writer(transactions)
    try:
        await writer.run(work)
    finally:
        transactions.give_up()
        await writer.close()


def _is_behind(connection: Connection, keys: Keys) -> bool:
    """Is a step to be taken? Raises ``ConfigError`` before anything is written, where a key is missing."""
    if not is_behind(connection):
        return False
    if (version(connection) or "") >= key_registry.SINCE:
        key_registry.must_have(connection, keys)
    return True


def _must_have_tables(connection: Connection, where: str) -> None:
    """Raises ``NoStore``."""
    if is_behind(connection) and version(connection) is None:
        raise NoStore(_NOT_THERE.format(where=where))


def _must_be_up_to_date(connection: Connection, where: str) -> None:
    """Raises ``ConfigError``, ``NoStore``."""
    if not is_behind(connection):
        return
    step = version(connection)
    if step is None:
        raise NoStore(_NOT_THERE.format(where=where))
    raise ConfigError(
        f"The tables {where} are at step {step}, and this build needs {HEAD}. Nothing was changed. To bring them up"
        " to date: pilothouse db upgrade"
    )


async def _look_in(reader: Reader, clock: StoreClock, keys: Keys, where: str) -> Keys:
    """The first look of a handle that only looks: whoever may do no more than read needs no more, and waits for nobody
    who writes. The keys, as far as they are in use."""

    def look(connection: Connection) -> Keys:
        _must_be_up_to_date(connection, where)
        admit(connection, HEAD, joins=False)
        key_registry.must_have(connection, keys)
        clock.measure(connection)
        return key_registry.as_in_use(connection, key_registry.in_order(connection, keys))

    return await reader.run(look)


async def _enter(
    writer: Writer,
    clock: StoreClock,
    keys: Keys,
    lives: Lives,
    lock: Callable[[Connection], None],
) -> Keys:
    """The first look of a handle at its tables; what is new of its keys is taken into use. The keys, the one that
    writes first."""

    def look(connection: Connection) -> tuple[Keys, bool]:
        admit(connection, HEAD)
        key_registry.must_have(connection, keys)
        clock.measure(connection)
        ordered = key_registry.in_order(connection, keys)
        return ordered, key_registry.brings_new(connection, ordered)

    ordered, brings_new = await writer.run(look)
    if brings_new:
        dead = await lives.dead(await writer.run(key_registry.process_ids))
        await writer.run(lambda c: key_registry.take_into_use(c, ordered, clock, dead, lock))
    return ordered


def _assemble(database: _Database, given: Clock | None, clock: StoreClock, keys: Keys) -> SqlStore:
    writer, reader, moved = database.writer, database.reader, database.wakeups.moved
    processes = SqlProcesses(writer, reader, clock, database.lives, keys)
    return SqlStore(
        clock=given or clock,
        journal=SqlJournal(writer, reader, clock, moved, processes.draws_here, keys),
        run_leases=SqlLeases(RUNS, writer, clock),
        thread_leases=SqlLeases(THREADS, writer, clock),
        threads=SqlThreads(writer, reader, clock, moved, keys),
        openings=SqlOpenings(writer, reader, clock),
        allowances=SqlAllowances(writer, clock),
        lists=SqlLists(reader, clock),
        control=SqlControl(writer, reader, clock, keys),
        limits=SqlLimits(writer, reader),
        wakeups=database.wakeups,
        processes=processes,
        projections=SqlProjections(writer, reader, clock, moved, keys),
        verifier=SqlVerifier(reader, keys=keys),
        rotation=SqlRotation(writer, reader, clock, keys, database.lives),
        purges=SqlPurges(writer, reader, clock, keys),
        _database=database,
    )
