"""The database from below: what no port lets one do."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import asyncpg
from alembic import command
from alembic.config import Config
from sqlalchemy import Connection

from store import migrations
from tests.store.outside import in_thread, in_transaction

#: Seconds; what keeps a database from whoever locks it is over by then.
_LOCKED_WITHIN = 20.0


def path_of(url: str) -> str:
    return url.removeprefix("sqlite:///")


def is_file(url: str) -> bool:
    return url.startswith("sqlite")


def ask(url: str, statement: str, *values: object) -> list[Any]:
    """The rows of a statement, with ``?`` for each value; committed."""
    if is_file(url):
        with closing(_connect(url)) as connection:
            return connection.execute(statement, values).fetchall()

    async def work() -> list[Any]:
        server = await asyncpg.connect(url)
        try:
            return [tuple(row) for row in await server.fetch(numbered(statement), *values)]
        finally:
            await server.close()

    return in_thread(work)


def numbered(statement: str) -> str:
    """As a server wants it."""
    first, *rest = statement.split("?")
    return first + "".join(f"${n}{part}" for n, part in enumerate(rest, 1))


def cut_off_all(url: str) -> None:
    """End every other connection to this database, as a restart of the server does."""
    ask(
        url,
        "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
        " WHERE datname = current_database() AND pid <> pg_backend_pid()",
    )


@contextmanager
def locked(url: str) -> Iterator[Callable[[], None]]:
    """Another has locked what every append and every beat writes, until the function that this gives is
    called, at the latest until the block ends. Raises what kept it from that."""
    may_end = threading.Event()
    hold = _hold_file if is_file(url) else _hold_rows
    with ThreadPoolExecutor(1) as thread:
        is_locked = Future[None]()
        held = thread.submit(hold, url, is_locked, may_end)
        try:
            # Whichever comes first: it has ended only if it could not be had.
            wait((is_locked, held), timeout=_LOCKED_WITHIN, return_when=FIRST_COMPLETED)
            if held.done():
                held.result()
            is_locked.result(timeout=0)
            yield may_end.set
        finally:
            may_end.set()
        held.result()


def _hold_file(url: str, is_locked: Future[None], may_end: threading.Event) -> None:
    with closing(_connect(url)) as connection:
        connection.execute("BEGIN EXCLUSIVE")
        is_locked.set_result(None)
        may_end.wait()
        connection.execute("ROLLBACK")


def _hold_rows(url: str, is_locked: Future[None], may_end: threading.Event) -> None:
    async def work() -> None:
        server = await asyncpg.connect(url)
        try:
            while not is_locked.done():
                # Whoever writes them in another order may wait for us, and then it may be we who have to give way.
                with suppress(asyncpg.DeadlockDetectedError):
                    async with server.transaction():
                        await server.execute("LOCK TABLE runs, processes IN EXCLUSIVE MODE")
                        is_locked.set_result(None)
                        await asyncio.to_thread(may_end.wait)
        finally:
            await server.close()

    asyncio.run(work())


def _connect(url: str) -> sqlite3.Connection:
    """A connection without a transaction of its own."""
    return sqlite3.connect(path_of(url), timeout=_LOCKED_WITHIN, isolation_level=None)


def migrations_config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(Path(migrations.__file__).parent))
    config.set_main_option("path_separator", "os")
    return config


def make_database(url: str, revision: str) -> None:
    """The tables as they were at that revision."""

    def work(connection: Connection) -> None:
        config = migrations_config()
        config.attributes["connection"] = connection
        command.upgrade(config, revision)

    in_transaction(url, work)
