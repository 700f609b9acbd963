"""The tables apart from their use: which step they are at, who may run on them, and bringing them up to
date. Nothing here makes a store."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import URL, Connection

from store import sqlite
from store.keys import NO_KEYS, Keys
from store.migrations import HEAD, pending, version
from store.migrations.floor import LOWEST, SINCE, read_floor
from store.open import PATIENCE as OF_A_STORE
from store.open import open_store, reach
from store.reader import Reader
from store.urls import parse_url, parse_urls, path_of

#: A step over large tables takes its time, and so does waiting for another process that takes it: a file
#: has one lock for both. On a server that has one of its own; a table is waited for as ever, since meanwhile
#: everybody else waits behind us.
PATIENCE, PATIENCE_FOR_A_TABLE = timedelta(minutes=10), OF_A_STORE


@dataclass(frozen=True, slots=True)
class Tables:
    """Steps are numbers of four digits, which count up."""

    #: The step that the tables are at; None where there are none.
    step: str | None
    #: The step that a build must know to run here; None where the row that says so was lost.
    must_know: str | None
    #: The newest step that this build knows, and those that it would take.
    knows: str
    pending: tuple[str, ...]

    @property
    def may_run(self) -> bool:
        """May this build run here?"""
        return self.must_know is not None and self.must_know <= self.knows


async def read_tables(url: str, *, listen_url: str | None = None) -> Tables:
    """Look, and change nothing. Raises ``ConfigError``, ``StoreUnavailable``."""
    parsed, listening_url = parse_urls(url, listen_url)
    if parsed.get_backend_name() == "sqlite" and not path_of(parsed).exists():
        return _tables(None, LOWEST)
    reader = await _reader(parsed, listening_url)
    try:
        return await reader.run(_look)
    finally:
        await reader.close()


async def upgrade(
    url: str, *, listen_url: str | None = None, keys: Keys = NO_KEYS
) -> tuple[Tables, Tables]:
    """Take the steps that are pending, or wait for whoever takes them; the tables before and after.

    Raises as ``open_store``."""
    before = await read_tables(url, listen_url=listen_url)
    is_file = parse_url(url).get_backend_name() == "sqlite"
    patience = PATIENCE if is_file else PATIENCE_FOR_A_TABLE
    store = await open_store(
        url, listen_url=listen_url, listens=False, patience=patience, keys=keys
    )
    await store.close()
    return before, await read_tables(url, listen_url=listen_url)


async def _reader(url: URL, listening_url: URL) -> Reader:
    if url.get_backend_name() == "sqlite":
        return Reader(sqlite.reading_engine(path_of(url)))
    return Reader((await reach(url, listening_url, PATIENCE_FOR_A_TABLE)).reading_engine())


def _look(connection: Connection) -> Tables:
    step = version(connection)
    has_floor = step is not None and step >= SINCE
    return _tables(step, read_floor(connection) if has_floor else LOWEST)


def _tables(step: str | None, must_know: str | None) -> Tables:
    return Tables(step, must_know, HEAD, pending(step))
