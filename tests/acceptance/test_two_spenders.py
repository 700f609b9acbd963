"""Two processes that spend from one limit at the same time never exceed it, and use all of it."""

from __future__ import annotations

import asyncio
import sys
from asyncio.subprocess import PIPE, Process
from decimal import Decimal
from pathlib import Path

RUNS = 10


async def _spender(url: str, folder: Path) -> Process:
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.acceptance.spender", url, str(folder), str(RUNS)),
        stdin=PIPE,
        stdout=PIPE,
    )


async def _line(process: Process) -> str:
    assert process.stdout is not None
    return (await process.stdout.readline()).decode().strip()


async def test_two_processes_never_exceed_a_limit_and_use_all_of_it(
    url: str, tmp_path: Path
) -> None:
    folders = [tmp_path / name for name in ("a", "b")]
    for folder in folders:
        folder.mkdir()
    async with asyncio.timeout(60):
        processes = [await _spender(url, folder) for folder in folders]
        assert [await _line(one) for one in processes] == ["ready", "ready"]
        ends = await asyncio.gather(*(one.communicate(b"go\n") for one in processes))
    assert [one.returncode for one in processes] == [0, 0]
    refused = sum(int(out) for out, _ in ends)
    paid = [Decimal(line) for one in folders for line in (one / "paid").read_text().split()]
    # What nothing came of was given back, unless all of the limit had been given out by then.
    assert 540 <= sum(paid) <= 600
    # Each process has one call of which nothing came, if it came to any.
    assert 1 <= 4 * RUNS - len(paid) - refused <= 2
