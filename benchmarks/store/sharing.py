"""Several processes that append to one file, ten runs each: does any of them starve?"""

from __future__ import annotations

import asyncio
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from pathlib import Path
from statistics import median

from benchmarks.figures import figure

RUNS, SECONDS, ROUNDS = 10, 2.0, 3
#: What the busiest may have done for each append of the one that did least.
MOST = 3.0


async def figures(folder: Path) -> AsyncIterator[dict[str, object]]:
    for processes in (2, 4):
        url = f"sqlite:///{folder}/shared-{processes}.db"
        rounds = [await side_by_side(url, processes, n) for n in range(ROUNDS)]
        shares = [max(counts) / max(1, min(counts)) for counts, _ in rounds]
        yield figure(
            f"appends of the busiest of {processes} processes on one file / of the least busy",
            median(shares),
            MOST,
            rate=median(sum(counts) / SECONDS for counts, _ in rounds),
            p99_ms=median(slowest for _, slowest in rounds),
            least=min(min(counts) for counts, _ in rounds) / SECONDS,
        )


async def side_by_side(url: str, processes: int, round_: int) -> tuple[list[int], float]:
    """How many each appended, and milliseconds of the slowest hundredth, of whoever had the slowest."""
    children = [await _start(url, f"{round_}_{n}") for n in range(processes)]
    for child in children:
        assert child.stdout is not None
        assert await child.stdout.readline() == b"ready\n", "it says itself what went wrong"
    said = await asyncio.gather(*(child.communicate(b"\n") for child in children))
    answers = [out.split() for out, _ in said]
    return [int(count) for count, _ in answers], max(float(slowest) for _, slowest in answers)


async def _start(url: str, name: str) -> Process:
    words = ("benchmarks.store.process", url, name, str(RUNS), str(SECONDS))
    return await asyncio.create_subprocess_exec(
        sys.executable, "-m", *words, stdin=PIPE, stdout=PIPE
    )
