"""Behind a pooler, whether or not anybody has said that there is one."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest
from sqlalchemy import make_url

from agent.errors import StoreUnavailable
from agent.ports import Process
from store import SqlStore, session_lives
from store.echo import Deaf, connect_hearing
from store.reader import Reader
from store.server import Server as Way
from store.upgrading import read_tables, upgrade
from tests.store.clock import ManualClock
from tests.store.conftest import OpenAnother, on_postgres, without_tables
from tests.store.database import ask, locked
from tests.store.pooler import PROGRAM, pooler
from tests.store.server import Server
from tests.store.story import begin, replied, stamps
from tests.store.waiting import until

pytestmark = [on_postgres, pytest.mark.usefixtures("kind")]

LONG = 20
PATIENCE = timedelta(seconds=1)
TERM = timedelta(hours=1)
END_WHO_LISTENS = (
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
    " WHERE query LIKE 'LISTEN%' AND datname = current_database()"
)
PROCESS = Process("p1", "test", (), True, False)


async def test_a_connection_that_hears_nothing_of_what_is_written_is_not_believed(
    url: str, server: Server
) -> None:
    """It listens in another database: nothing else differs."""
    reader = Reader(Way(make_url(url), PATIENCE).reading_engine())
    elsewhere = Way(make_url(server.url_of("postgres")), PATIENCE)
    elsewhere.is_pooled = True  # so that it isn't waited for so long
    with pytest.raises(Deaf, match="PILOTHOUSE_LISTEN_URL"):
        await connect_hearing(elsewhere, reader)
    await (await connect_hearing(Way(make_url(url), PATIENCE), reader)).close()
    await reader.close()


async def test_a_connection_that_is_lost_before_it_has_heard_is_not_taken_for_a_poolers(
    url: str, server: Server
) -> None:
    """It is tried again at once, where nobody has to change anything first."""
    reader = Reader(Way(make_url(url), PATIENCE).reading_engine())
    elsewhere = server.url_of("postgres")
    connecting = asyncio.create_task(connect_hearing(Way(make_url(elsewhere), PATIENCE), reader))

    async def is_lost() -> bool:
        return ask(elsewhere, END_WHO_LISTENS) == [(True,)]

    await until(is_lost)
    with pytest.raises(StoreUnavailable) as lost:
        await connecting
    assert not isinstance(lost.value, Deaf)
    await reader.close()


async def test_without_a_pooler_none_is_seen(url: str) -> None:
    way = Way(make_url(url), PATIENCE)
    await way.look()
    assert not way.is_pooled


async def wakes(store: SqlStore, other: SqlStore, clock: ManualClock) -> None:
    """Does it hear of what others commit, one way or another?"""
    moves = store.wakeups.moves
    waiting = asyncio.create_task(store.wakeups.wait(moves, LONG))
    await begin(other.journal, clock)
    async with asyncio.timeout(LONG / 2):
        await waiting
    assert store.wakeups.moves > moves


@pytest.mark.skipif(PROGRAM is None, reason="pgbouncer is not installed")
class TestThatNobodyHasSaidAnythingOf:
    @pytest.fixture(params=[False, True], ids=["refuses_settings", "ignores_settings"])
    def ignores_settings(self, request: pytest.FixtureRequest) -> bool:
        return bool(request.param)

    @pytest.fixture
    async def pooled(self, url: str, ignores_settings: bool) -> AsyncIterator[str]:
        async with pooler(url, mode="transaction", ignores_settings=ignores_settings) as where:
            yield where

    async def test_all_goes_on_and_the_way_past_it_is_asked_for(
        self,
        pooled: str,
        open_another: OpenAnother,
        clock: ManualClock,
        caplog: pytest.LogCaptureFixture,
    ) -> None:
        with caplog.at_level(logging.WARNING):
            store = await open_another(url=pooled)
        assert "PILOTHOUSE_LISTEN_URL" in caplog.text
        other = await open_another(url=pooled, listens=False)
        await wakes(store, other, clock)
        assert len(await other.run_leases.claim("p1", TERM, 1)) == 1

    async def test_no_lock_is_left_with_a_connection_of_it(
        self,
        pooled: str,
        open_another: OpenAnother,
        url: str,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        """Else it would be somebody's who knows nothing of it, and its process be taken for dead."""
        monkeypatch.setattr(session_lives, "SECONDS_TO_RETURN", 0.0)
        monkeypatch.setattr(session_lives, "SECONDS_TO_COME_BACK", 0.0)
        store = await open_another(url=pooled, clock=None)
        await store.processes.join(PROCESS)
        assert ask(url, "SELECT has_lock FROM processes") == [(False,)]
        assert ask(url, "SELECT * FROM pg_locks WHERE locktype = 'advisory'") == []
        other = await open_another(clock=None)
        assert await other.processes.bury_dead() == []
        assert await other.processes.alive(TERM) == [PROCESS]

    async def test_patience_has_its_limit(
        self, pooled: str, open_another: OpenAnother, clock: ManualClock, url: str
    ) -> None:
        store = await open_another(url=pooled, listens=False, patience=timedelta(seconds=0.1))
        run_id = await begin(store.journal, clock)
        with locked(url), pytest.raises(StoreUnavailable):
            await store.journal.intend(run_id, stamps(clock, replied()), expected_seq=1)
        await store.journal.intend(run_id, stamps(clock, replied()), expected_seq=1)

    @without_tables
    async def test_the_tables_are_made_and_looked_at(self, pooled: str) -> None:
        before, after = await upgrade(pooled)
        assert (before.step, after.pending) == (None, ())
        assert await read_tables(pooled) == after

    async def test_with_the_way_past_it_others_are_heard(
        self, pooled: str, open_another: OpenAnother, clock: ManualClock, url: str
    ) -> None:
        store = await open_another(url=pooled, listen_url=url)
        await store.processes.join(PROCESS)
        assert ask(url, "SELECT has_lock FROM processes") == [(True,)]
        await wakes(store, await open_another(url=pooled, listens=False), clock)

    async def test_one_that_leaves_each_its_connection_is_listened_through(
        self, open_another: OpenAnother, clock: ManualClock, url: str, ignores_settings: bool
    ) -> None:
        async with pooler(url, mode="session", ignores_settings=ignores_settings) as where:
            store = await open_another(url=where)
            await store.processes.join(PROCESS)
            assert ask(url, "SELECT has_lock FROM processes") == [(True,)]
            await wakes(store, await open_another(listens=False), clock)
            await store.close()
            await until(lambda: _is_unlocked(url))


async def _is_unlocked(url: str) -> bool:
    """What was locked through the pooler?"""
    return ask(url, "SELECT * FROM pg_locks WHERE locktype = 'advisory'") == []
