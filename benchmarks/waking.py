"""How soon a process sees what another one has committed, and what it costs to have nothing to do.

The process that commits is another one; so is the one whose idling is measured.
"""

from __future__ import annotations

import asyncio
import sys
import time
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median, quantiles

from benchmarks.figures import figure
from store import open_store
from tests.store.database import ask
from tests.store.server import running

COMMITS = 100
WAITING = 10_000
IDLE_SECONDS = 10
#: In milliseconds: of 100 wake-ups 95 come sooner. With word from whoever commits, and without.
HEARD, ASKED = 5.0, 60.0
#: What an idle bot may take of one processor, in percent, and how much more with many waiting runs.
IDLE_PERCENT, MANY_TO_FEW = 5.0, 1.3

_MANY = """
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
    INSERT INTO runs (run_id, agent, session, requester, status, head_seq, head_hash, wake_at, fence,
        started_at, updated_at, format)
    SELECT 'run_' || i, 'refunds', 's_' || i, 'cli:bench', 'active', 1, '',
        CASE WHEN i % 2 = 0 THEN 4000000000000000 + i END, 0, i, i, 1 FROM n
"""
_THEIR_THREADS = """
    INSERT INTO threads (run_id, wanted_seq, shown_seq, fence) SELECT run_id, 1, 1, 0 FROM runs
"""


@contextmanager
def databases(folder: Path) -> Iterator[dict[str, str]]:
    """The URL of a new one of each kind."""
    with running() as server, server.database() as url:
        yield {"SQLite": f"sqlite:///{folder / 'waking.db'}", "PostgreSQL": url}


async def figures(folder: Path) -> AsyncIterator[dict[str, object]]:
    with databases(folder) as urls:
        for kind, url in urls.items():
            for listens, most in ((True, HEARD), (False, ASKED)):
                yield await wake_ups(kind, url, listens, most)
                ask(url, "DELETE FROM journal")
                ask(url, "DELETE FROM runs")
            few = await idling(url)
            ask(url, _MANY, WAITING)
            ask(url, _THEIR_THREADS)
            ask(url, "ANALYZE")
            many = await idling(url)
            percent = many / IDLE_SECONDS * 100
            name = f"an idle bot, {kind}, {WAITING} runs that wait"
            yield figure(f"{name} / {IDLE_PERCENT:g} % of a processor", percent / IDLE_PERCENT, 1.0)
            yield figure(f"{name} / none", many / few, MANY_TO_FEW, percent=percent)


async def wake_ups(kind: str, url: str, listens: bool, most: float) -> dict[str, object]:
    store = await open_store(url, listens=listens)
    woken: list[float] = []

    async def watch() -> None:
        while True:
            moves = store.wakeups.moves
            await store.wakeups.wait(moves, 60)
            woken.append(time.monotonic())

    watching = asyncio.create_task(watch())
    try:
        committed = [float(line) for line in await beside("append", url, str(COMMITS))]
    finally:
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)
        await store.close()
    took = sorted(
        # Word may come before the commit's own answer has reached whoever committed.
        max(0.0, next(at for at in woken if at > commit - 0.02) - commit) * 1000
        for commit in committed
    )
    p95 = quantiles(took, n=20)[-1]
    name = f"wake-up p95, {kind}, {'with' if listens else 'without'} word / {most:g} ms"
    return figure(name, p95 / most, 1.0, p50_ms=median(took), p95_ms=p95)


async def idling(url: str) -> float:
    """Seconds of a processor."""
    (seconds,) = await beside("idle", url, str(IDLE_SECONDS))
    return float(seconds)


async def beside(*words: str) -> list[str]:
    """What another process says."""
    command = (sys.executable, "-m", "benchmarks.beside", *words)
    child = await asyncio.create_subprocess_exec(*command, stdout=PIPE)
    said, _ = await child.communicate()
    assert child.returncode == 0, "it says itself what went wrong"
    return said.decode().split()
