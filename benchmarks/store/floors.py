"""The least that an append could cost: what the store's own figures are measured against.

An append is a guarded ``UPDATE`` of its run's head and one row of the journal, durable. Nothing is checked,
hashed or read by anyone else here.
"""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import asyncpg
from sqlalchemy import event, text
from sqlalchemy.ext.asyncio import create_async_engine

#: Of an ordinary fact.
BODY = "x" * 500
_TABLES = (
    "CREATE TABLE IF NOT EXISTS floor_runs"
    " (run_id TEXT PRIMARY KEY, head_seq BIGINT NOT NULL, fence BIGINT NOT NULL)",
    "CREATE TABLE IF NOT EXISTS floor_journal"
    " (run_id TEXT NOT NULL, seq BIGINT NOT NULL, body TEXT NOT NULL, PRIMARY KEY (run_id, seq))",
)
_MOVE = "UPDATE floor_runs SET head_seq = head_seq + 1 WHERE run_id = ? AND fence = 1 RETURNING head_seq"
_INSERT = "INSERT INTO floor_journal VALUES (?, ?, ?)"
_AT_ONCE = """
WITH moved AS (
    UPDATE floor_runs SET head_seq = head_seq + 1 WHERE run_id = $1 AND fence = $2
    RETURNING run_id, head_seq
)
INSERT INTO floor_journal SELECT run_id, head_seq, $3 FROM moved RETURNING seq
"""
_CONNECTIONS = 20


@contextmanager
def in_use(path: Path) -> Iterator[Path]:
    """The floor's file, open meanwhile as a store's is. Behind the last connection SQLite takes the log (WAL) away, and
    until a new one has grown to its size each commit waits for the file system as well."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
        for statement in _TABLES:
            connection.execute(statement)
        yield path


def sqlite_loop(path: Path, seconds: float, *, is_synced: bool = True) -> float:
    """Appends a second: one thread, one connection, kept statements, nothing beside. Not synced it is no floor: it
    shows how much of the floor is waiting for the disk."""
    with closing(sqlite3.connect(path, isolation_level=None, cached_statements=10)) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute(f"PRAGMA synchronous={'FULL' if is_synced else 'OFF'}")
        for statement in _TABLES:
            connection.execute(statement)
        connection.execute("INSERT OR IGNORE INTO floor_runs VALUES ('run', 0, 1)")
        done, begun = 0, time.perf_counter()
        while time.perf_counter() - begun < seconds:
            connection.execute("BEGIN IMMEDIATE")
            ((seq,),) = connection.execute(_MOVE, ("run",)).fetchall()
            connection.execute(_INSERT, ("run", seq, BODY))
            connection.execute("COMMIT")
            done += 1
        return done / (time.perf_counter() - begun)


async def postgres_at_once(url: str, runs: int, seconds: float) -> float:
    """Appends a second: raw ``asyncpg``, one statement and one way there and back for each."""
    async with asyncpg.create_pool(url, min_size=_CONNECTIONS, max_size=_CONNECTIONS) as pool:
        for statement in _TABLES:
            await pool.execute(statement)
        for n in range(runs):
            values = "VALUES ($1, 0, 1) ON CONFLICT DO NOTHING"
            await pool.execute(f"INSERT INTO floor_runs {values}", f"run_{n}")
        took, whole = await each(
            runs, seconds, lambda n: pool.fetchval(_AT_ONCE, f"run_{n}", 1, BODY)
        )
        return len(took) / whole


async def one_transaction_each(path: Path, runs: int, seconds: float) -> list[float]:
    """Seconds of each append, where each is a transaction of its own: an engine with its defaults."""
    engine = create_async_engine(f"sqlite+aiosqlite:///{path}", connect_args={"timeout": 60})

    @event.listens_for(engine.sync_engine, "connect")
    def prepare(connection: Any, _: object) -> None:
        connection.isolation_level = None
        cursor = connection.cursor()
        cursor.execute("PRAGMA journal_mode=WAL")
        cursor.execute("PRAGMA synchronous=FULL")
        cursor.close()

    @event.listens_for(engine.sync_engine, "begin")
    def begin(connection: Any) -> None:
        connection.exec_driver_sql("BEGIN IMMEDIATE")

    move = text(_MOVE.replace("?", ":run"))
    insert = text("INSERT INTO floor_journal VALUES (:run, :seq, :body)")

    async def append(n: int) -> None:
        async with engine.begin() as connection:
            run = {"run": f"run_{n}"}
            seq = (await connection.execute(move, run)).scalar_one()
            await connection.execute(insert, run | {"seq": seq, "body": BODY})

    async with engine.begin() as connection:
        for statement in _TABLES:
            await connection.execute(text(statement))
        for n in range(runs):
            statement = f"INSERT OR IGNORE INTO floor_runs VALUES ('run_{n}', 0, 1)"
            await connection.execute(text(statement))
    took, _ = await each(runs, seconds, append)
    await engine.dispose()
    return took


async def each(
    runs: int, seconds: float, append: Callable[[int], Awaitable[object]]
) -> tuple[list[float], float]:
    """So many at once, each one after the other: seconds of each append, and of the whole."""
    took: list[float] = []

    async def go_on(n: int) -> None:
        while (begun := time.perf_counter()) < until:
            await append(n)
            took.append(time.perf_counter() - begun)

    begun = time.perf_counter()
    until = begun + seconds
    await asyncio.gather(*(go_on(n) for n in range(runs)))
    return took, time.perf_counter() - begun
