"""Other processes hear of what concerns them, as long as they can; nothing depends on it."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from datetime import timedelta

import asyncpg
import pytest

from agent.engine.guard import LeaseGuard
from agent.engine.holding import LeaseLoop
from agent.errors import ConfigError, StoreError, StoreUnavailable
from agent.ports import Process
from agent.rules.ids import RunId
from store import SqlStore
from store.listening import Listening
from tests.store.clock import ManualClock
from tests.store.conftest import OpenAnother, on_postgres
from tests.store.database import cut_off_all, locked
from tests.store.server import Server
from tests.store.story import begin, replied, stamps
from tests.store.waiting import until

pytestmark = [on_postgres, pytest.mark.usefixtures("kind")]

TERM = timedelta(seconds=30)
LONG = 20


async def worked_by(store: SqlStore, run_id: RunId, begun: Callable[[], Awaitable[object]]) -> None:
    """A worker on ``store`` takes the run that ``begun`` makes due."""
    is_worked = asyncio.Event()

    async def work(guard: LeaseGuard, stopping: asyncio.Event) -> None:
        assert guard.lease.run_id == run_id
        await store.run_leases.suspend(guard.lease, seen_seq=1, until=None)
        is_worked.set()

    loop = LeaseLoop(store.run_leases, store.wakeups, work, holder="p1", term=TERM, concurrency=5)
    running = asyncio.create_task(loop.run())
    await begun()
    async with asyncio.timeout(LONG):
        await is_worked.wait()
    await loop.stop(drain=TERM)
    await running


async def test_looking_now_and_then_is_enough(
    open_another: OpenAnother, clock: ManualClock
) -> None:
    deaf, other = await open_another(listens=False), await open_another()
    await worked_by(deaf, RunId("run_1"), lambda: begin(other.journal, clock))


async def test_a_process_that_can_not_listen_is_not_taken_for_dead(
    store: SqlStore, open_another: OpenAnother
) -> None:
    deaf = await open_another(listens=False)
    process = Process("p1", "test", (), True, False)
    await deaf.processes.join(process)
    assert await store.processes.bury_dead() == []
    assert await store.processes.alive(TERM) == [process]


class TestPastAPooler:
    """Here the other way differs by a name alone: what is done for a pooler's sake is done all the same."""

    @pytest.fixture
    def listen_url(self, url: str) -> str:
        return url + ("&" if "?" in url else "?") + "application_name=direct"

    async def test_others_are_heard(
        self, open_another: OpenAnother, clock: ManualClock, listen_url: str
    ) -> None:
        store = await open_another(listen_url=listen_url)
        moves = store.wakeups.moves
        run_id = await begin((await open_another(listen_url=listen_url)).journal, clock)
        async with asyncio.timeout(LONG):
            await store.wakeups.wait(moves, LONG)
        assert store.wakeups.moves > moves
        assert len(await store.journal.read(run_id)) == 1

    async def test_patience_has_its_limit_in_each_transaction(
        self, open_another: OpenAnother, clock: ManualClock, url: str, listen_url: str
    ) -> None:
        store = await open_another(listen_url=listen_url, patience=timedelta(seconds=0.1))
        run_id = await begin(store.journal, clock)
        with locked(url), pytest.raises(StoreUnavailable):
            await store.journal.intend(run_id, stamps(clock, replied()), expected_seq=1)
        await store.journal.intend(run_id, stamps(clock, replied()), expected_seq=1)

    async def test_a_connection_that_was_lost_while_idle_is_nobodys_error(
        self, open_another: OpenAnother, clock: ManualClock, url: str, listen_url: str
    ) -> None:
        store = await open_another(listen_url=listen_url)
        cut_off_all(url)
        run_id = await begin(store.journal, clock)
        cut_off_all(url)
        assert len(await store.journal.read(run_id)) == 1


async def test_a_server_that_can_not_be_listened_to_does_not_keep_a_store_from_opening(
    open_another: OpenAnother,
    clock: ManualClock,
    server: Server,
    caplog: pytest.LogCaptureFixture,
) -> None:
    deaf = await open_another(listen_url=server.url_of("nowhere"))
    assert "PILOTHOUSE_LISTEN_URL" in caplog.text
    await begin(deaf.journal, clock)
    assert len(await deaf.run_leases.claim("p1", TERM, 1)) == 1


@pytest.mark.usefixtures("store")
async def test_whoever_has_to_mend_it_is_told_of_a_setting_that_is_there(
    server: Server, caplog: pytest.LogCaptureFixture
) -> None:

    async def is_told() -> bool:
        return "can't be heard now" in caplog.text

    server.kill()
    try:
        await until(is_told)
    finally:
        server.start()
    assert "PILOTHOUSE_DATABASE_URL" in caplog.text
    assert "PILOTHOUSE_LISTEN_URL" not in caplog.text


async def until_it_listens_again(store: SqlStore, cut_off: Callable[[], object]) -> None:
    """It says so: words may have been missed."""
    moves = store.wakeups.moves
    cut_off()
    async with asyncio.timeout(LONG):
        await store.wakeups.wait(moves, LONG)


async def test_a_lost_connection_is_opened_again_with_its_lock(
    store: SqlStore, open_another: OpenAnother, clock: ManualClock, url: str
) -> None:
    process = Process("p1", "test", (), True, False)
    await store.processes.join(process)
    await until_it_listens_again(store, lambda: cut_off_all(url))
    other = await open_another()
    async with asyncio.timeout(LONG):
        while await store.processes.alive(TERM) != [process]:
            pass
    assert await other.processes.bury_dead() == []
    moves = store.wakeups.moves
    await begin(other.journal, clock)
    async with asyncio.timeout(LONG):
        await store.wakeups.wait(moves, LONG)
    assert store.wakeups.moves > moves


async def test_while_the_connection_is_lost_others_are_looked_for(
    open_another: OpenAnother, clock: ManualClock, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And it takes nobody for dead: it may be the server that went away."""
    monkeypatch.setattr("store.listening.FIRST_PAUSE", 3 * LONG)
    monkeypatch.setattr("store.listening.LONGEST_PAUSE", 3 * LONG)
    store, other = await open_another(), await open_another()
    await other.processes.join(Process("p1", "test", (), True, False))
    moves = store.wakeups.moves
    waiting = asyncio.create_task(store.wakeups.wait(moves, LONG))
    cut_off_all(url)
    await begin(other.journal, clock)
    async with asyncio.timeout(LONG / 2):
        await waiting
    assert store.wakeups.moves > moves
    assert await store.processes.bury_dead() == []


async def test_after_a_restart_of_the_server_all_goes_on(
    store: SqlStore, open_another: OpenAnother, clock: ManualClock, server: Server
) -> None:
    other = await open_another()
    for n, one in enumerate((store, other)):
        await one.processes.join(Process(f"p{n}", "test", (), True, False))
    await until_it_listens_again(store, server.restart)
    # Everybody has lost everything, and nobody is dead.
    assert await store.processes.bury_dead() == []

    async def start() -> None:
        async with asyncio.timeout(LONG):
            while True:
                try:
                    await begin(other.journal, clock)
                    return
                except StoreError:
                    await asyncio.sleep(0)

    await worked_by(store, RunId("run_1"), start)


async def test_whatever_happens_it_goes_on_listening(
    url: str, caplog: pytest.LogCaptureFixture
) -> None:
    heard = asyncio.Event()
    fails = iter([None, ConfigError("Not now."), ValueError("What is this?"), None])

    async def connect() -> asyncpg.Connection:
        if (failure := next(fails)) is not None:
            raise failure
        return await asyncpg.connect(url)

    with caplog.at_level(logging.CRITICAL):
        listening = Listening(connect, heard.set)
        await listening.start()
        heard.clear()
        cut_off_all(url)
        async with asyncio.timeout(LONG):
            await heard.wait()
        await listening.close()


async def test_where_nobody_can_ever_listen_that_is_said(url: str) -> None:
    async def connect() -> asyncpg.Connection:
        raise ConfigError("No.")

    with pytest.raises(ConfigError):
        await Listening(connect, lambda: None).start()


async def test_a_server_that_stays_away_is_asked_ever_more_seldom(
    caplog: pytest.LogCaptureFixture,
) -> None:
    tried_at: list[float] = []
    has_tried = asyncio.Event()

    async def connect() -> asyncpg.Connection:
        tried_at.append(time.monotonic())
        if len(tried_at) == 5:
            has_tried.set()
        raise StoreUnavailable("It is away.")

    with caplog.at_level(logging.CRITICAL):
        listening = Listening(connect, lambda: None)
        await listening.start()
        async with asyncio.timeout(LONG):
            await has_tried.wait()
        await listening.close()
    assert tried_at[-1] - tried_at[0] > (0.1 + 0.2 + 0.4 + 0.8) / 2
