"""An older build and this one on one database, while runs wait: none is lost, nothing happens twice.

What this build judged says until when people are waited for. An older one would overlook that, and is kept
away from such a run by its form: it is left for the newer one, which lacks nothing of the older one's.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tarfile
from asyncio.subprocess import PIPE, Process
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest

from agent.rules.ids import RunId
from store import SqlStore, migrations
from tests.store.clock import ManualClock
from tests.store.conftest import OpenAnother, without_tables
from tests.store.database import ask, is_file, make_database
from tests.store.limits import begun, of_limit
from tests.store.story import begin, replied, stamps

REPOSITORY = Path(__file__).parents[2]
BUILDS = REPOSITORY / "tests" / "builds"
NEW = migrations.HEAD
#: What users have, on a file, and the first build that knew a server.
OLD_ON_A_FILE, OLD_ON_A_SERVER = "0002", "0003"


@dataclass(frozen=True)
class House:
    """A process at work, of one build."""

    process: Process

    async def tell(self, *words: str) -> str:
        """Its answer."""
        self.send(*words)
        return await self.answer()

    def send(self, *words: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write((" ".join(words) + "\n").encode())

    async def answer(self) -> str:
        assert self.process.stdout is not None
        async with asyncio.timeout(30):
            answer = (await self.process.stdout.readline()).decode().strip()
        if not answer:
            assert self.process.stderr is not None
            raise AssertionError((await self.process.stderr.read()).decode())
        return answer

    async def stop(self, leaves_out: Collection[str] = ()) -> None:
        """In good order: it has nothing to complain of but that these runs are a newer build's."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        async with asyncio.timeout(30):
            _, complaints = await self.process.communicate()
        said = complaints.decode().splitlines()
        assert (
            [line for line in said if not _is_of(line, leaves_out)],
            self.process.returncode,
        ) == ([], 0)


def _is_of(line: str, runs: Collection[str]) -> bool:
    run, _, why = line.partition(" is left out: ")
    return run in runs and why.startswith("This build does not know the event ")


Begin = Callable[[str], Awaitable[House]]


@pytest.fixture(scope="session")
def sources(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Where each build is, by the step that it knows."""
    found = {NEW: REPOSITORY}
    for step in (OLD_ON_A_FILE, OLD_ON_A_SERVER):
        found[step] = tmp_path_factory.mktemp("build")
        with tarfile.open(BUILDS / f"schema-{step}.tar.gz") as archive:
            archive.extractall(found[step], filter="data")
    return found


@pytest.fixture
def older(url: str) -> str:
    """The step that the older build knows."""
    return OLD_ON_A_FILE if is_file(url) else OLD_ON_A_SERVER


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    return tmp_path / "ledger"


@pytest.fixture
async def start_house(url: str, ledger: Path, sources: dict[str, Path]) -> AsyncIterator[Begin]:
    """Starts a process of the build that knows this step; none outlives the test."""
    processes: list[Process] = []

    async def start(step: str) -> House:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, str(BUILDS / "house.py"), url, str(ledger)),
            env={**os.environ, "PYTHONPATH": str(sources[step])},
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
        )
        processes.append(process)
        return House(process)

    yield start
    for process in processes:
        if process.returncode is None:
            process.kill()
            await process.communicate()


async def until(url: str, statement: str, wanted: object) -> None:
    """Until this statement, of one value, gives what is wanted."""
    async with asyncio.timeout(40):
        while (found := ask(url, statement)) != [(wanted,)]:
            assert found
            await asyncio.sleep(0.05)


def sent(ledger: Path) -> Counter[str]:
    """How often each run sent its letter."""
    return Counter(ledger.read_text().split())


def step_of(url: str) -> str:
    ((step,),) = ask(url, "SELECT version_num FROM alembic_version")
    return str(step)


@without_tables
async def test_runs_that_an_older_build_began_are_worked_by_both_and_none_is_lost(
    start_house: Begin, open_another: OpenAnother, url: str, older: str, ledger: Path
) -> None:
    old = await start_house(older)
    assert await old.answer() == f"knows {older}"
    assert step_of(url) == older
    runs = [await old.tell("start", f"before_{n}") for n in range(4)]
    await until(url, "SELECT count(*) FROM approvals WHERE status = 'pending'", 4)

    new = await start_house(NEW)
    # The older one is at work while the tables are brought up to date.
    runs += [await old.tell("start", f"meanwhile_{n}") for n in range(4)]
    assert await new.answer() == f"knows {NEW}"
    assert step_of(url) == NEW
    runs += [await new.tell("start", f"after_{n}") for n in range(2)]
    runs += [await old.tell("start", f"behind_{n}") for n in range(2)]
    assert await new.tell("start", "before_0") == runs[0], "a repeated start finds its run"
    await until(url, "SELECT count(*) FROM approvals WHERE status = 'pending'", len(runs))

    for house in (old, new):
        house.send("approve")
    assert int(await old.answer()) + int(await new.answer()) == len(runs)
    await until(url, "SELECT count(*) FROM runs WHERE status = 'finished'", len(runs))
    assert sent(ledger) == Counter(runs), "each letter was sent once"
    # Either may have worked any of those that were begun since the newer one came.
    await old.stop(leaves_out=runs[4:])
    await new.stop()
    store = await open_another(clock=None)
    for run in runs:
        assert (await store.verifier.check(RunId(run))).broken is None


@without_tables
async def test_what_an_older_build_asked_the_newer_is_told_and_what_the_newer_asked_waits_for_it(
    start_house: Begin, url: str, older: str, ledger: Path
) -> None:
    """The newer decides what only the older has worked, and goes on where it has ended."""
    old = await start_house(older)
    await old.answer()
    run = await old.tell("start", "of_old")
    await until(url, "SELECT count(*) FROM approvals WHERE status = 'pending'", 1)
    await old.stop()

    new = await start_house(NEW)
    await new.answer()
    assert await new.tell("approve") == "1"
    await until(url, "SELECT count(*) FROM runs WHERE status = 'finished'", 1)
    other = await new.tell("start", "of_new")
    await until(url, "SELECT count(*) FROM approvals WHERE status = 'pending'", 1)
    await new.stop()

    asked = "SELECT run_id, head_seq, fence, claims, format FROM runs WHERE status = 'active'"
    before = ask(url, asked)
    old = await start_house(older)
    await old.answer()
    assert await old.tell("approve") == "0"
    await old.stop(leaves_out=[other])
    assert before == ask(url, asked)
    assert sent(ledger) == Counter([run])

    new = await start_house(NEW)
    await new.answer()
    assert await new.tell("approve") == "1"
    await until(url, "SELECT count(*) FROM runs WHERE status = 'finished'", 2)
    await new.stop()
    assert sent(ledger) == Counter([run, other])


@without_tables
async def test_an_older_build_leaves_a_run_that_reserves_alone(
    start_house: Begin, open_another: OpenAnother, url: str, older: str
) -> None:
    store = await open_another(clock=None)
    await reserve(store, ManualClock())
    before = ask(url, "SELECT head_seq, fence, claims, format FROM runs WHERE run_id = 'run_1'")
    old = await start_house(older)
    await old.answer()
    await old.tell("start", "another")
    await until(url, "SELECT count(*) FROM approvals WHERE status = 'pending'", 1)
    assert await old.tell("approve") == "1"
    await until(url, "SELECT count(*) FROM runs WHERE status = 'finished'", 1)
    await old.stop()
    after = ask(url, "SELECT head_seq, fence, claims, format FROM runs WHERE run_id = 'run_1'")
    assert before == after == [(3, 1, 0, 3)]
    (lease,) = await store.run_leases.claim("p_new", timedelta(seconds=30), 9)
    assert lease.run_id == "run_1"


async def reserve(store: SqlStore, clock: ManualClock) -> None:
    """A run whose call has reserved something, and which is due."""
    run_id = await begin(store.journal, store.clock, agent="letters")
    (lease,) = await store.run_leases.claim("p_test", timedelta(seconds=30), 1)
    start = begun(clock, "call_1", of_limit("180"))
    await store.journal.record(
        run_id, stamps(store.clock, replied("call_1"), start), fence=lease.fence
    )
    await store.run_leases.defer(lease, until=store.clock.now())


@without_tables
async def test_four_processes_of_both_builds_start_at_once_on_an_older_database(
    start_house: Begin, url: str, older: str
) -> None:
    make_database(url, older)
    houses = [await start_house(step) for step in (older, NEW) * 2]
    said = [await house.answer() for house in houses]
    assert Counter(said) == {f"knows {older}": 2, f"knows {NEW}": 2}
    assert step_of(url) == NEW
    for n, house in enumerate(houses):
        await house.tell("start", f"key_{n}")
    await until(url, "SELECT count(*) FROM approvals WHERE status = 'pending'", 4)
    for house in houses:
        await house.stop()
