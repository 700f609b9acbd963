"""A disk that is full, a folder that nobody may write, a file that is not there any more: nothing is lost, and the
store goes on by itself once that is mended."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from agent.errors import StoreError, StoreUnavailable
from agent.ports import Process
from store import SqlStore, open_store
from store.same_file import SameFile
from store.schema import runs
from store.sqlite import folder_beside, reading_engine
from tests.store.clock import ManualClock
from tests.store.disks import SmallDisk, small_disk, unwritable
from tests.store.files import with_tables
from tests.store.story import begin, replied, stamps

BIG = "x" * 100_000
PROCESS = Process("p1", "test", ("refunds",), True, True)


Opened = Callable[[str], Awaitable[SqlStore]]


@pytest.fixture
async def opened(clock: ManualClock) -> AsyncIterator[Opened]:
    """Opens stores, which are closed at the end."""
    async with AsyncExitStack() as stack:

        async def open_one(url: str) -> SqlStore:
            store = await open_store(url, clock=clock)
            stack.push_async_callback(store.close)
            return store

        yield open_one


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[SmallDisk]:
    with small_disk(tmp_path / "disk") as disk:
        yield disk


async def test_a_full_disk_is_said_and_nothing_is_lost_or_doubled(
    disk: SmallDisk, opened: Opened, clock: ManualClock
) -> None:
    store = await opened(with_tables(disk.folder / "p.db"))
    run_id = await begin(store.journal, clock)
    disk.fill()
    events = stamps(clock, replied("call_1", text=BIG))
    with pytest.raises(StoreUnavailable, match=r"the disk is full .* Make room on it"):
        await store.journal.intend(run_id, events, expected_seq=1)
    assert len(await store.journal.read(run_id)) == 1
    disk.make_room()
    for _ in range(2):
        await store.journal.intend(run_id, events, expected_seq=1)
    assert [one.seq for one in await store.journal.read(run_id)] == [1, 2]


def is_there(path: Path) -> bool:
    return path.exists()


class TestAFileThatIsNotThereAnyMore:
    @pytest.fixture
    def path(self, tmp_path: Path) -> Path:
        path = tmp_path / "p.db"
        with_tables(path)
        return path

    @pytest.fixture
    def aside(self, tmp_path: Path) -> Path:
        (tmp_path / "aside").mkdir()
        return tmp_path / "aside"

    @staticmethod
    def move(path: Path, to: Path) -> None:
        for one in path.parent.glob(f"{path.name}*"):
            if one.is_file():
                one.rename(to / one.name)

    async def test_is_made_anew_by_nobody_while_its_log_stands_there(
        self, path: Path, aside: Path, clock: ManualClock, opened: Opened
    ) -> None:
        store = await opened(f"sqlite:///{path}")
        run_id = await begin(store.journal, clock)
        os.rename(path, aside / path.name)
        with pytest.raises(StoreUnavailable, match=r"p\.db-wal beside it is.* Nothing was made"):
            await opened(f"sqlite:///{path}")
        assert not is_there(path)
        os.rename(aside / path.name, path)
        await begin(store.journal, clock, "run_2")
        assert len(await (await opened(f"sqlite:///{path}")).journal.read(run_id)) == 1

    async def test_is_not_written_on_nor_made_anew_and_found_again_when_it_is_put_back(
        self, path: Path, aside: Path, clock: ManualClock, opened: Opened
    ) -> None:
        store = await opened(f"sqlite:///{path}")
        run_id = await begin(store.journal, clock)
        self.move(path, aside)
        with pytest.raises(StoreUnavailable, match=r"is not there any more\. Put it back"):
            await begin(store.journal, clock, "run_2")
        with pytest.raises(StoreUnavailable, match="is not there any more"):
            await store.journal.read(run_id)
        assert not is_there(path)
        self.move(aside / path.name, path.parent)
        await begin(store.journal, clock, "run_2")
        assert len(await store.lists.runs(limit=9)) == 2

    async def test_is_not_taken_for_another_one_in_its_place(
        self, path: Path, aside: Path, clock: ManualClock, opened: Opened
    ) -> None:
        store = await opened(f"sqlite:///{path}")
        await begin(store.journal, clock)
        self.move(path, aside)
        with_tables(path)
        with pytest.raises(StoreUnavailable, match="is another one than was opened"):
            await begin(store.journal, clock, "run_2")
        with pytest.raises(StoreUnavailable, match="is another one than was opened"):
            await store.lists.runs(limit=9)
        another = await opened(f"sqlite:///{path}")
        assert await another.lists.runs(limit=9) == []

    def test_what_others_had_beside_it_is_not_missed_by_who_had_it_not_open(
        self, path: Path
    ) -> None:
        same = SameFile(path)
        other = sqlite3.connect(path)
        other.execute("PRAGMA journal_mode=WAL")
        same.must_be_there()
        other.close()
        with closing(sqlite3.connect(path)) as ours:
            ours.execute("SELECT * FROM runs")
            same.opened()
            same.must_be_there()

    async def test_whoever_closes_it_takes_nothing_from_whoever_is_about_to_read(
        self, path: Path
    ) -> None:
        """Who closes a file last takes away what stands beside it."""
        other = sqlite3.connect(path)
        other.execute("PRAGMA journal_mode=WAL")
        reading = reading_engine(path)
        async with reading.connect() as connection:
            other.close()
            await connection.execute(runs.select())
        async with reading.connect() as connection:
            assert (await connection.execute(runs.select())).all() == []
        await reading.dispose()

    @pytest.mark.parametrize("ending", ["-wal", "-shm"])
    async def test_nor_written_without_what_stands_beside_it(
        self, path: Path, aside: Path, clock: ManualClock, opened: Opened, ending: str
    ) -> None:
        """Nobody but us would find what is written, and the next one to open it would write into the same places."""
        store = await opened(f"sqlite:///{path}")
        run_id = await begin(store.journal, clock)
        beside = path.with_name(f"{path.name}{ending}")
        beside.rename(aside / beside.name)
        for _ in range(2):
            with pytest.raises(StoreUnavailable, match=f"{beside.name} was taken away or replaced"):
                await begin(store.journal, clock, "run_2")
        (aside / beside.name).rename(beside)
        assert await begin(store.journal, clock, "run_2") == "run_2"
        assert len(await store.journal.read(run_id)) == 1


async def test_the_dead_are_buried_later_where_their_files_can_not_be_taken_away_now(
    tmp_path: Path, clock: ManualClock, opened: Opened
) -> None:
    url = with_tables(tmp_path / "p.db")
    dead, alive = await opened(url), await opened(url)
    await dead.processes.join(PROCESS)
    await begin(dead.journal, clock)
    await dead.run_leases.claim("p1", timedelta(hours=1), 1)
    await dead.close()
    folder = folder_beside(tmp_path / "p.db") / "processes"
    with unwritable(folder):
        with pytest.raises(StoreUnavailable):
            await alive.processes.bury_dead()
        # What it held is free all the same.
        assert len(await alive.run_leases.claim("p2", timedelta(hours=1), 1)) == 1
        with pytest.raises(StoreUnavailable):
            await alive.processes.join(replace(PROCESS, process_id="p3"))
    await alive.processes.bury_dead()
    assert os.listdir(folder) == []
    await alive.processes.join(PROCESS)


async def test_a_store_can_be_closed_where_its_folder_can_not_be_written(
    tmp_path: Path, clock: ManualClock, opened: Opened
) -> None:
    store = await opened(with_tables(tmp_path / "p.db"))
    with unwritable(folder_beside(tmp_path / "p.db") / "listeners"):
        await store.close()


async def test_a_file_that_can_only_be_read_is_said_to_be_so(tmp_path: Path) -> None:
    url = with_tables(tmp_path / "disk" / "p.db")
    store = await open_store(url)
    await store.close()
    with unwritable(tmp_path / "disk"), pytest.raises(StoreError) as refused:
        await open_store(url)
    assert "can't be opened" in str(refused.value)
