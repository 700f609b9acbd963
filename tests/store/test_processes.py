from __future__ import annotations

import asyncio
import os
import threading
from datetime import timedelta
from pathlib import Path

import pytest

from agent.errors import StoreError, StoreUnavailable
from agent.ports import Process
from store import SqlStore, open_store
from store.instants import EPOCH
from store.life_locks import LifeLock, LifeLocks
from store.processes import FORGOTTEN_AFTER
from tests.store.clock import ManualClock
from tests.store.conftest import OpenAnother, on_sqlite
from tests.store.database import ask, is_file, locked, path_of
from tests.store.story import begin
from tests.store.waiting import until

TERM = timedelta(seconds=30)
MOMENT = timedelta(microseconds=1)


def process(name: str) -> Process:
    tools = {"refunds": ("refund", "look_up"), "deploys": ()}
    return Process(name, "1.0", ("refunds", "deploys"), does_work=True, draws=False, tools=tools)


async def test_what_an_older_build_does_not_say_it_counts_as_having(
    store: SqlStore, url: str, clock: ManualClock
) -> None:
    now = (clock.now() - EPOCH) // timedelta(microseconds=1)
    ask(
        url,
        "INSERT INTO processes (process_id, build, agents, does_work, draws, beat_at,"
        """ has_lock) VALUES ('p_old', '0.0', '["refunds"]', true, true, ?, false)""",
        now,
    )
    await store.processes.join(process("p_new"))
    new, old = await store.processes.alive(TERM)
    assert (old.process_id, old.tools) == ("p_old", None)
    assert old.can_take_on("refunds", ["whatever"], 1)
    assert not old.can_take_on("refunds", [], 2), "it can't read what the newer ones write"
    assert new.can_take_on("refunds", [], 2)
    assert not old.can_take_on("deploys", [], 1)
    assert new.can_take_on("refunds", ["look_up", "refund"], 1)
    assert new.can_take_on("deploys", [], 1)
    assert not new.can_take_on("refunds", ["refund", "whatever"], 1)
    assert not new.can_take_on("deploys", ["refund"], 1)


@pytest.mark.parametrize(
    "written",
    [
        "agents = 'refunds'",
        "agents = '[1]'",
        "agents = '{}'",
        "tools = '[]'",
        """tools = '{"refunds": 1}'""",
        "tools = ''",
    ],
)
async def test_one_whose_row_cannot_be_read_takes_nothing_on_and_hides_no_other(
    store: SqlStore, url: str, written: str
) -> None:
    await store.processes.join(process("p_1"))
    await store.processes.join(process("p_2"))
    ask(url, f"UPDATE processes SET {written} WHERE process_id = 'p_1'")
    damaged, other = await store.processes.alive(TERM)
    assert (damaged.process_id, damaged.agents) == ("p_1", ())
    assert not damaged.can_take_on("refunds", [], 1)
    assert other == process("p_2")


async def test_who_has_joined_is_alive_as_it_said_it_is(
    store: SqlStore, open_another: OpenAnother
) -> None:
    await store.processes.join(process("p1"))
    other = await open_another()
    await other.processes.join(process("p2"))
    for one in (store, other):
        assert await one.processes.alive(TERM) == [process("p1"), process("p2")]
        assert await one.processes.bury_dead() == []


async def test_who_has_left_is_gone(store: SqlStore, clock: ManualClock) -> None:
    await begin(store.journal, clock)
    await store.processes.join(process("p1"))
    await store.run_leases.claim("p1", TERM, 1)
    await store.processes.leave("p1")
    assert await store.processes.alive(TERM) == []
    assert len(await store.run_leases.claim("p2", TERM, 1)) == 1


@on_sqlite
async def test_who_has_left_or_is_buried_leaves_no_file(
    store: SqlStore, open_another: OpenAnother, tmp_path: Path
) -> None:
    await store.processes.join(process("p1"))
    await store.processes.leave("p1")
    dead = await open_another()
    await dead.processes.join(process("p2"))
    await dead.close()
    assert await store.processes.bury_dead() == ["p2"]
    assert list((tmp_path / "processes").iterdir()) == []


async def test_who_does_not_beat_is_not_alive_after_a_term(
    store: SqlStore, clock: ManualClock
) -> None:
    await store.processes.join(process("p1"))
    clock.move(TERM - MOMENT)
    assert len(await store.processes.alive(TERM)) == 1
    await store.processes.beat("p1")
    clock.move(TERM - MOMENT)
    assert len(await store.processes.alive(TERM)) == 1
    clock.move(MOMENT)
    assert await store.processes.alive(TERM) == []


async def test_who_has_been_silent_for_long_is_forgotten_when_the_next_one_joins(
    open_another: OpenAnother, clock: ManualClock, url: str
) -> None:
    store = await open_another(listens=False)
    for name in ("p1", "p2", "p3"):
        await store.processes.join(process(name))
        clock.move(FORGOTTEN_AFTER * 0.6)
    assert ask(url, "SELECT process_id FROM processes ORDER BY process_id") == [("p2",), ("p3",)]
    await store.processes.beat("p1")
    clock.move(TERM - MOMENT)
    assert await store.processes.alive(TERM) == [process("p1")]


async def test_a_beat_brings_back_a_row_that_was_lost(store: SqlStore, url: str) -> None:
    await store.processes.join(process("p1"))
    ask(url, "DELETE FROM processes")
    await store.processes.beat("p1")
    await store.processes.beat("p0")
    assert await store.processes.alive(TERM) == [process("p1")]


async def waits_to_be_written(url: str) -> bool:
    """Does the row of ``p1``?"""
    if is_file(url):
        return (Path(path_of(url)).parent / "processes" / "p1").exists()
    return bool(ask(url, "SELECT 1 FROM pg_locks WHERE NOT granted"))


@pytest.mark.usefixtures("quick_deaths")
async def test_who_no_longer_waits_to_have_joined_is_buried_though_it_was_committed(
    store: SqlStore, open_another: OpenAnother, url: str
) -> None:
    other = await open_another()
    with locked(url) as unlock:
        joining = asyncio.create_task(store.processes.join(process("p1")))
        await until(lambda: waits_to_be_written(url))
        joining.cancel()
        with pytest.raises(asyncio.CancelledError):
            await joining
        unlock()
    assert await until(other.processes.bury_dead) == ["p1"]
    assert ask(url, "SELECT process_id FROM processes") == []


@pytest.mark.usefixtures("quick_deaths")
async def test_who_could_not_join_may_try_again_elsewhere(
    open_another: OpenAnother, url: str
) -> None:
    store, other = await open_another(patience=timedelta(seconds=0.1)), await open_another()
    with locked(url), pytest.raises(StoreUnavailable):
        await store.processes.join(process("p1"))
    assert await other.processes.alive(TERM) == []
    await other.processes.join(process("p1"))
    assert await store.processes.bury_dead() == []
    assert await other.processes.alive(TERM) == [process("p1")]


@pytest.mark.usefixtures("quick_deaths")
async def test_a_dead_process_is_buried_once_however_many_bury(
    store: SqlStore, open_another: OpenAnother, clock: ManualClock, url: str
) -> None:
    for n in range(3):
        await begin(store.journal, clock, f"run_{n}")
        dead = await open_another()
        await dead.processes.join(process(f"p{n}"))
        await dead.run_leases.claim(f"p{n}", TERM, 1)
        await dead.close()
    burying = [store, await open_another(), await open_another()]
    buried: list[str] = []
    for _ in range(2):  # one that looks while another buries leaves it to that one
        for some in await asyncio.gather(*(one.processes.bury_dead() for one in burying)):
            buried += some
    assert sorted(buried) == ["p0", "p1", "p2"]
    assert ask(url, "SELECT process_id FROM processes") == []
    assert len(await store.run_leases.claim("p9", TERM, 9)) == 3


async def test_a_new_life_under_an_old_name_begins_without_the_old_leases(
    store: SqlStore, open_another: OpenAnother, clock: ManualClock
) -> None:
    await begin(store.journal, clock)
    dead = await open_another()
    await dead.processes.join(process("p1"))
    await dead.run_leases.claim("p1", TERM, 1)
    await dead.close()
    await store.processes.join(process("p1"))
    assert await store.processes.bury_dead() == []
    assert len(await store.run_leases.claim("p1", TERM, 1)) == 1


async def test_a_name_is_one_live_process(store: SqlStore, open_another: OpenAnother) -> None:
    await store.processes.join(process("p1"))
    other = await open_another()
    with pytest.raises(StoreError, match="p1"):
        await other.processes.join(process("p1"))
    assert await store.processes.alive(TERM) == [process("p1")]


async def test_starting_while_others_bury_is_safe(
    store: SqlStore, open_another: OpenAnother
) -> None:
    other = await open_another()

    async def live(n: int) -> None:
        await store.processes.join(process(f"p{n}"))

    async def bury() -> list[str]:
        return await other.processes.bury_dead()

    work = [step for n in range(20) for step in (live(n), bury())]
    buried = [one for one in await asyncio.gather(*work) if one]
    assert buried == []
    assert len(await store.processes.alive(TERM)) == 20


def test_a_lock_on_a_file_that_was_taken_away_is_nobodys(tmp_path: Path) -> None:
    locks = LifeLocks(tmp_path)
    starting = locks.take("p1")
    assert starting is not None
    starting.release()
    burying = locks.take_over("p1")
    assert burying is not None
    assert locks.take("p1") is None
    burying.remove()
    begun = locks.take("p1")
    assert begun is not None
    assert locks.take_over("p1") is None
    begun.remove()


def test_a_lock_has_one_holder_however_often_its_file_comes_and_goes(tmp_path: Path) -> None:
    """The gap between opening a file and locking it is where it can be taken away."""
    locks = LifeLocks(tmp_path)
    rivals: list[LifeLock] = []

    def live_and_be_buried() -> None:
        for _ in range(500):
            if (lock := locks.take("p1")) is not None:
                if (rival := locks.take("p1")) is not None:
                    rivals.append(rival)
                lock.remove()

    threads = [threading.Thread(target=live_and_be_buried) for _ in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    for rival in rivals:
        rival.release()
    assert rivals == []


def test_what_can_be_no_lock_of_ours_is_left_alone(tmp_path: Path) -> None:
    locks = LifeLocks(tmp_path)
    begun = locks.take("p1")
    assert begun is not None
    begun.release()
    (tmp_path / "notes").write_text("somebody's")
    (tmp_path / "empty").touch()
    (tmp_path / "link").symlink_to(tmp_path / "empty")
    (tmp_path / "folder").mkdir()
    for name in (".gitkeep", "a.lock", "50%", "ü"):
        (tmp_path / name).touch()
    os.mkfifo(tmp_path / "pipe")
    assert list(locks.ids()) == ["empty", "p1"]


@on_sqlite
async def test_whose_lock_is_another_users_is_not_known_to_be_dead(
    store: SqlStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "processes").mkdir()
    (tmp_path / "processes" / "p1").touch()
    opened = os.open

    def refuse(path: Path, flags: int, mode: int = 0o777) -> int:
        # Whoever runs the tests may be allowed anything.
        if path == tmp_path / "processes" / "p1":
            raise PermissionError(13, "Permission denied", str(path))
        return opened(path, flags, mode)

    monkeypatch.setattr(os, "open", refuse)
    assert await store.processes.bury_dead() == []


async def test_two_files_in_one_folder_do_not_bury_each_others_dead(tmp_path: Path) -> None:
    urls = [f"sqlite:///{tmp_path / name}" for name in ("pilothouse.db", "other.db")]
    for url in urls:
        dead = await open_store(url)
        await dead.processes.join(process("p1"))
        await dead.close()
    (tmp_path / "link.db").symlink_to(tmp_path / "other.db")
    for url in (urls[0], f"sqlite:///{tmp_path / 'link.db'}"):
        store = await open_store(url)
        assert await store.processes.bury_dead() == ["p1"]
        await store.close()


async def test_what_lies_beside_a_file_is_left_alone(tmp_path: Path) -> None:
    theirs = [tmp_path / folder / name for folder in ("listeners", "processes") for name in "12"]
    for path in theirs:
        path.parent.mkdir(exist_ok=True)
        path.touch()
    store = await open_store(f"sqlite:///{tmp_path / 'ours.db'}")
    await store.processes.join(process("p1"))
    await store.processes.bury_dead()
    await store.processes.leave("p1")
    await store.close()
    assert all(path.exists() for path in theirs)


def test_no_name_leads_out_of_the_folder(tmp_path: Path) -> None:
    locks = LifeLocks(tmp_path / "processes")
    for name in ("..", "../x", "/etc/x", "a/b", "ü"):
        lock = locks.take(name)
        assert lock is not None
        assert name in locks.ids()
        lock.release()
    assert [path.name for path in tmp_path.iterdir()] == ["processes"]
    assert all(path.is_file() for path in (tmp_path / "processes").iterdir())
