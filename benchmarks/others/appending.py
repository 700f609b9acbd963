"""One of the others at work: ``python appending.py WHAT URL``, in the environment that ``scripts/bench-others`` makes.

It says ``ready``, and which version it is of; for each line ``RUNS SECONDS`` that it reads it has so many runs keep one
step after the other, durably, and says how many steps a second that were. A step is a text of 500 characters. Each is
used as its manual says for an asynchronous server, and with a state as small as can be: nothing but the step.
"""

from __future__ import annotations

import asyncio
import sqlite3
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, closing
from importlib.metadata import version
from typing import Any

BODY = "x" * 500
CONNECTIONS = 20
#: Keeps one step of the run of this number.
Step = Callable[[int], Awaitable[object]]
#: Has so many runs keep steps for so many seconds; how many that were.
Work = Callable[[int, float], Awaitable[int]]


def by_steps(keep: Step) -> Work:
    async def work(runs: int, seconds: float) -> int:
        until = time.perf_counter() + seconds

        async def go_on(run: int) -> int:
            kept = 0
            while time.perf_counter() < until:
                await keep(run)
                kept += 1
            return kept

        return sum(await asyncio.gather(*(go_on(run) for run in range(runs))))

    return work


@asynccontextmanager
async def langgraph_sqlite(url: str) -> AsyncIterator[Work]:
    """Its saver turns the log (WAL) on itself; ``synchronous`` stays as SQLite has it, which is FULL."""
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

    async with AsyncSqliteSaver.from_conn_string(url.removeprefix("sqlite:///")) as saver:
        await saver.setup()
        yield by_steps(_checkpoints(saver))


@asynccontextmanager
async def langgraph_postgres(url: str) -> AsyncIterator[Work]:
    from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
    from psycopg.rows import dict_row
    from psycopg_pool import AsyncConnectionPool

    keywords = {"autocommit": True, "prepare_threshold": 0, "row_factory": dict_row}
    sizes = {"min_size": CONNECTIONS, "max_size": CONNECTIONS}
    async with AsyncConnectionPool(url, kwargs=keywords, open=False, **sizes) as pool:
        saver = AsyncPostgresSaver(pool)
        await saver.setup()
        yield by_steps(_checkpoints(saver))


def _checkpoints(saver: Any) -> Step:
    """A checkpoint a step, each behind the one before, as a graph of one node writes them."""
    from langgraph.checkpoint.base import empty_checkpoint

    newest: dict[int, Any] = {}

    async def keep(run: int) -> None:
        config = newest.get(run) or {
            "configurable": {"thread_id": f"run_{run}", "checkpoint_ns": ""}
        }
        step = int(config.get("step", 0)) + 1
        versions = {"step": f"{step:032}"}
        checkpoint = {
            **empty_checkpoint(),
            "channel_values": {"step": BODY},
            "channel_versions": versions,
        }
        metadata = {"source": "loop", "step": step}
        newest[run] = {**await saver.aput(config, checkpoint, metadata, versions), "step": step}

    return keep


@asynccontextmanager
async def dbos(url: str) -> AsyncIterator[Work]:
    """Workflows whose steps' outputs are kept. On SQLite it leaves the journal's mode as it finds it."""
    from dbos import DBOS, DBOSConfig

    config: DBOSConfig = {
        "name": "bench",
        "system_database_url": url,
        "log_level": "ERROR",
        "sys_db_pool_size": CONNECTIONS,
    }
    DBOS(config=config)

    async def step() -> str:
        return BODY

    async def go_on(seconds: float) -> int:
        # A replay would take another time for this; none takes place here.
        until, kept = time.perf_counter() + seconds, 0
        while time.perf_counter() < until:
            await DBOS.run_step_async(None, step)
            kept += 1
        return kept

    workflow: Any = DBOS.workflow()(go_on)
    DBOS.launch()

    async def work(runs: int, seconds: float) -> int:
        handles = [await DBOS.start_workflow_async(workflow, seconds) for _ in range(runs)]
        return sum(await asyncio.gather(*(handle.get_result() for handle in handles)))

    try:
        yield work
    finally:
        DBOS.destroy()


@asynccontextmanager
async def dbos_with_log(url: str) -> AsyncIterator[Work]:
    """The same, on a file that has been given SQLite's log (WAL) before: it keeps it."""
    with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
        async with dbos(url) as work:
            yield work


#: By name: how it works, and the package whose version counts.
OTHERS: dict[str, tuple[Callable[[str], Any], str]] = {
    "langgraph-sqlite": (langgraph_sqlite, "langgraph-checkpoint-sqlite"),
    "langgraph-postgres": (langgraph_postgres, "langgraph-checkpoint-postgres"),
    "dbos-sqlite": (dbos, "dbos"),
    "dbos-sqlite-wal": (dbos_with_log, "dbos"),
    "dbos-postgres": (dbos, "dbos"),
}


async def main(what: str, url: str) -> None:
    opened, package = OTHERS[what]
    async with opened(url) as work:
        await work(2, 0.3)
        say(f"ready {package} {version(package)}")
        while line := await asyncio.to_thread(sys.stdin.readline):
            runs, seconds = line.split()
            begun = time.perf_counter()
            kept = await work(int(runs), float(seconds))
            say(str(kept / (time.perf_counter() - begun)))


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
