"""Real processes on one database."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import timedelta
from pathlib import Path

import pytest

from store import SqlStore
from tests.store.conftest import OpenAnother, without_tables
from tests.store.story import begin, returned, stamp

REPOSITORY = Path(__file__).parents[2]
TERM = timedelta(hours=1)
Run = Callable[[str, str], Awaitable[Process]]


@pytest.fixture
async def run(url: str) -> AsyncIterator[Run]:
    """Starts a process of ``tests.store.child``; none outlives the test."""
    children: list[Process] = []

    async def start(what: str, name: str) -> Process:
        command = (sys.executable, "-m", "tests.store.child", what, url, name)
        child = await asyncio.create_subprocess_exec(
            *command, cwd=REPOSITORY, stdin=PIPE, stdout=PIPE
        )
        children.append(child)
        return child

    yield start
    for child in children:
        if child.returncode is None:
            child.kill()
        await child.communicate()


@pytest.fixture
async def store(open_another: OpenAnother) -> SqlStore:
    """By the clock that the other processes go by."""
    return await open_another(clock=None)


async def line(child: Process) -> str:
    assert child.stdout is not None
    async with asyncio.timeout(20):
        return (await child.stdout.readline()).decode().strip()


@without_tables
async def test_six_processes_open_an_empty_database_at_once(
    run: Run, open_another: OpenAnother
) -> None:
    children = [await run("start", f"run_{n}") for n in range(6)]
    said = [await child.communicate() for child in children]
    assert [child.returncode for child in children] == [0] * 6
    assert sorted(out.decode().strip() for out, _ in said) == [f"run_{n}" for n in range(6)]
    store = await open_another()
    assert len(await store.lists.runs(limit=10)) == 6


async def test_four_processes_claim_each_of_a_hundred_runs_once(run: Run, store: SqlStore) -> None:
    names = [f"run_{n:03}" for n in range(100)]
    await asyncio.gather(*(begin(store.journal, store.clock, name) for name in names))
    children = [await run("claim", f"p{n}") for n in range(4)]
    said = [await child.communicate() for child in children]
    assert sorted(" ".join(out.decode() for out, _ in said).split()) == names


async def test_a_killed_process_is_buried_at_once_and_its_leases_end(
    run: Run, store: SqlStore
) -> None:
    await begin(store.journal, store.clock, "run_1", place="C1:1")
    await begin(store.journal, store.clock, "run_2", place="C1:2")
    child = await run("hold", "p1")
    assert await line(child) == "holds 2 2"
    assert [one.process_id for one in await store.processes.alive(TERM)] == ["p1"]
    assert await store.processes.bury_dead() == []
    assert await store.run_leases.claim("p2", TERM, 9) == []

    os.kill(child.pid, signal.SIGKILL)
    await child.wait()
    async with asyncio.timeout(20):
        while await store.processes.alive(TERM):
            pass  # its connection ended at once; it is given a moment to come back
    assert await store.processes.bury_dead() == ["p1"]
    assert await store.processes.bury_dead() == []
    for leases in (store.run_leases, store.thread_leases):
        assert [one.fence for one in await leases.claim("p2", TERM, 9)] == [2, 2]


async def test_a_process_that_was_stopped_past_its_lease_can_not_append_once_it_is_replaced(
    run: Run, store: SqlStore
) -> None:
    run_id = await begin(store.journal, store.clock)
    child = await run("come_late", "p1")
    assert await line(child) == f"holds {run_id}"
    os.kill(child.pid, signal.SIGSTOP)
    async with asyncio.timeout(20):
        while not (leases := await store.run_leases.claim("p2", TERM, 1)):
            await store.wakeups.wait(store.wakeups.moves, 0.1)
    os.kill(child.pid, signal.SIGCONT)
    assert child.stdin is not None
    child.stdin.write(b"\n")
    assert await line(child) == "lost"
    assert len(await store.journal.read(run_id)) == 1
    (lease,) = leases
    await store.journal.record(run_id, [stamp(store.clock, returned("call_1"))], fence=lease.fence)


async def test_an_append_of_another_process_wakes_this_one(run: Run, store: SqlStore) -> None:
    run_id = await begin(store.journal, store.clock)
    child = await run("append", run_id)
    assert await line(child) == "ready"
    moves = store.wakeups.moves
    waiting = asyncio.create_task(store.wakeups.wait(moves, 20))
    assert child.stdin is not None
    child.stdin.write(b"\n")
    await waiting
    assert store.wakeups.moves > moves
    assert len(await store.journal.read(run_id)) == 2
