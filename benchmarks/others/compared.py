"""Appends beside those of others, on the same database, in turns, with the floor of the same minute.

What each does for an append differs: ours checks a fence, hashes a chain and moves what is looked for by; LangGraph's
savers write a checkpoint; DBOS writes a step's output. Each is one durable step of some 500 bytes of one run.
"""

from __future__ import annotations

import asyncio
import os
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from statistics import median

from benchmarks.figures import figure
from benchmarks.store.appends import SECONDS, appended, held, opened
from benchmarks.store.floors import in_use, postgres_at_once, sqlite_loop
from store import SqlStore
from tests.store.server import running

RUNS, ROUNDS = (1, 10, 50), 5
#: Ours may take no longer than theirs.
MOST = 1.0
#: The environment of the others; ``scripts/bench-others`` makes it.
SETTING = "BENCH_OTHERS"
ON_SQLITE = ("langgraph-sqlite", "dbos-sqlite", "dbos-sqlite-wal")
ON_POSTGRES = ("langgraph-postgres", "dbos-postgres")


@dataclass
class Other:
    """One of the others, and how many steps a second it kept, a round each."""

    name: str
    process: Process
    rates: list[float] = field(default_factory=list)

    async def work(self, runs: int) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{runs} {SECONDS}\n".encode())
        self.rates.append(float(await said_by(self.process)))


async def figures(folder: Path) -> AsyncIterator[dict[str, object]]:
    file = folder / "ours.db"
    urls = {name: f"sqlite:///{folder / name}.db" for name in ON_SQLITE}
    with in_use(folder / "others-floor.db") as floor_file:
        async with opened(f"sqlite:///{file}") as store, at_work(urls) as others:

            async def floor(runs: int) -> float:
                return await asyncio.to_thread(sqlite_loop, floor_file, SECONDS)

            async for one in _compared("SQLite", store, others, floor):
                yield one
    with (
        running(is_durable=True) as server,
        server.database() as url,
        server.database() as langgraph,
        server.database() as dbos,
    ):
        async with (
            opened(url) as store,
            at_work(dict(zip(ON_POSTGRES, (langgraph, dbos), strict=True))) as others,
        ):

            async def floor_there(runs: int) -> float:
                return await postgres_at_once(url, runs, SECONDS)

            async for one in _compared("PostgreSQL", store, others, floor_there):
                yield one


async def _compared(
    kind: str,
    store: SqlStore,
    others: Sequence[Other],
    floor: Callable[[int], Awaitable[float]],
) -> AsyncIterator[dict[str, object]]:
    for runs in RUNS:
        floors, ours = await _in_turns(store, others, floor, runs)
        for other in others:
            yield figure(
                f"an append, {kind}, {runs} at once / a step of {other.name}",
                median(theirs / one for theirs, one in zip(other.rates, ours, strict=True)),
                MOST,
                rate=median(ours),
                their_rate=median(other.rates),
                floor_rate=median(floors),
            )


async def _in_turns(
    store: SqlStore,
    others: Sequence[Other],
    floor: Callable[[int], Awaitable[float]],
    runs: int,
) -> tuple[list[float], list[float]]:
    """The floor's rates and ours, a round each; those of the others are in their ``rates``."""
    leases = await held(store, runs)
    floors: list[float] = []
    ours: list[float] = []

    async def below() -> None:
        floors.append(await floor(runs))

    async def own() -> None:
        ours.append((await appended(store, leases)).rate)

    turns: list[Callable[[], Awaitable[None]]] = [below, own]
    turns += [partial(other.work, runs) for other in others]
    for other in others:
        other.rates.clear()
    for n in range(ROUNDS):
        # There and back: who comes behind one that keeps the disk busy would pay for it each time.
        for turn in turns if n % 2 == 0 else reversed(turns):
            await turn()
    return floors, ours


@asynccontextmanager
async def at_work(urls: dict[str, str]) -> AsyncIterator[list[Other]]:
    """The others of these names, each on its URL."""
    others: list[Other] = []
    try:
        for name, url in urls.items():
            process = await asyncio.create_subprocess_exec(
                _python(),
                str(Path(__file__).with_name("appending.py")),
                name,
                url,
                stdin=PIPE,
                stdout=PIPE,
            )
            _, package, version = (await said_by(process)).split()
            others.append(Other(f"{package} {version} ({name})", process))
        yield others
    finally:
        for other in others:
            if other.process.returncode is None:
                other.process.kill()
            await other.process.wait()


async def said_by(process: Process) -> str:
    """Its next line. Ends the program where there is none: the other has said itself what went wrong."""
    assert process.stdout is not None
    line = await process.stdout.readline()
    if not line:
        sys.exit("One of the others has ended; see above.")
    return line.decode().strip()


def _python() -> Path:
    folder = os.environ.get(SETTING)
    if not folder:
        sys.exit("The others need an environment of their own: make bench-others.")
    return Path(folder) / "bin" / "python"
