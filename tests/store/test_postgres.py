"""What can happen only where several processes write at the same time, and a server lies in between."""

from __future__ import annotations

import asyncio
import gc
import re
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import asyncpg
import pytest
from sqlalchemy import Connection, make_url
from sqlalchemy.dialects import postgresql

from agent.errors import ConfigError, SessionBusy, StoreError, StoreUnavailable
from agent.rules.events import RunFailed, RunReopened
from agent.rules.ids import Principal, RunId
from store import SqlStore, open_store
from store.lease_tables import RUNS
from store.postgres import MIGRATION_LOCK
from store.server import Server
from store.upgrading import upgrade
from store.writer import Writer
from tests.store.clock import ManualClock
from tests.store.conftest import OpenAnother, on_postgres, without_tables
from tests.store.database import ask, cut_off_all, make_database
from tests.store.outside import transactions_of
from tests.store.story import begin, replied, stamp, stamps, started
from tests.store.waiting import until

pytestmark = on_postgres

LONG = 20

INSERT = (
    "INSERT INTO runs (run_id, agent, session, requester, key, status, head_seq, head_hash, wake_at,"
    " fence, started_at, updated_at, format)"
    " VALUES ('run_other', 'refunds', $1, 'alice', $2, 'active', 1, '', 0, 0, 0, 0, 1)"
)


@asynccontextmanager
async def another(url: str) -> AsyncIterator[asyncpg.Connection]:
    """A process that writes by itself."""
    connection = await asyncpg.connect(url)
    try:
        yield connection
    finally:
        await connection.close()


async def until_somebody_waits(connection: asyncpg.Connection) -> None:
    """For what this connection has locked."""
    waiting = (
        "SELECT count(*) FROM pg_locks"
        " WHERE NOT granted AND pg_backend_pid() = ANY(pg_blocking_pids(pid))"
    )
    async with asyncio.timeout(10):
        while not await connection.fetchval(waiting):
            pass


async def behind(
    url: str, work: Coroutine[Any, Any, Any], *, session: str = "s_other", key: str | None = None
) -> Any:
    """What becomes of ``work`` when another start comes between its look and its write."""
    async with another(url) as other:
        async with other.transaction():
            await other.execute(INSERT, session, key)
            task = asyncio.create_task(work)
            await until_somebody_waits(other)
        async with asyncio.timeout(10):
            return (await asyncio.gather(task, return_exceptions=True))[0]


class TestWhoeverCommitsFirst:
    async def test_a_start_with_the_key_of_another_finds_that_run(
        self, store: SqlStore, clock: ManualClock, url: str
    ) -> None:
        start = store.journal.start(RunId("run_1"), stamp(clock, started()), key="k")
        assert await behind(url, start, key="k") == "run_other"

    async def test_a_start_in_the_session_of_another_says_that_it_is_busy(
        self, store: SqlStore, clock: ManualClock, url: str
    ) -> None:
        start = store.journal.start(RunId("run_1"), stamp(clock, started("s")))
        busy = await behind(url, start, session="s")
        assert isinstance(busy, SessionBusy)
        assert busy.run_id == "run_other"

    async def test_a_reopening_in_the_session_of_another_says_that_it_is_busy(
        self, store: SqlStore, clock: ManualClock, url: str
    ) -> None:
        run_id = await begin(store.journal, clock)
        failed = stamps(clock, RunFailed(error="no"))
        await store.journal.intend(run_id, failed, expected_seq=1)
        reopened = stamps(clock, RunReopened(by=Principal("cli:op")))
        reopening = store.journal.intend(run_id, reopened, expected_seq=2)
        assert isinstance(await behind(url, reopening, session="s_run_1"), SessionBusy)
        assert len(await store.journal.read(run_id)) == 2


@without_tables
async def test_whoever_opens_waits_for_another_that_migrates_however_long_it_takes(
    open_another: OpenAnother, clock: ManualClock, url: str
) -> None:
    async with another(url) as other:
        async with other.transaction():
            await other.execute(f"SELECT pg_advisory_xact_lock({MIGRATION_LOCK})")
            opening = asyncio.ensure_future(open_another(patience=timedelta(seconds=0.1)))
            await until_somebody_waits(other)
            await other.execute("SELECT pg_sleep(0.3)")
        store = await opening
    await begin(store.journal, clock)


@without_tables
async def test_a_server_that_gives_statements_up_lets_whoever_migrates_wait_and_take_its_time(
    open_another: OpenAnother, url: str
) -> None:
    """Some providers let no statement of a role go on for long."""
    async with another(url) as other:
        name = make_url(url).database
        await other.execute(f"ALTER DATABASE {name} SET statement_timeout = '1s'")
        async with other.transaction():
            await other.execute(f"SELECT pg_advisory_xact_lock({MIGRATION_LOCK})")
            opening = asyncio.ensure_future(open_another())
            await until_somebody_waits(other)
            await other.execute("SELECT pg_sleep(1.2)")
        await opening


class TestAStepForWhichATableIsLocked:
    """Everybody else waits behind whoever waits for it."""

    pytestmark = without_tables

    @pytest.fixture
    async def is_locked(self, url: str) -> AsyncIterator[None]:
        make_database(url, "0003")
        async with another(url) as other, other.transaction():
            await other.execute("LOCK TABLE processes IN EXCLUSIVE MODE")
            yield

    @pytest.mark.parametrize("is_pooled", [False, True])
    async def test_is_given_up_soon(
        self, open_another: OpenAnother, url: str, is_locked: None, is_pooled: bool
    ) -> None:
        past_it = url + ("&" if "?" in url else "?") + "application_name=direct"
        with pytest.raises(StoreUnavailable):
            async with asyncio.timeout(LONG):
                await open_another(
                    listen_url=past_it if is_pooled else None, patience=timedelta(seconds=0.2)
                )

    async def test_is_given_up_by_those_who_only_upgrade_too(
        self, url: str, is_locked: None, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("store.upgrading.PATIENCE_FOR_A_TABLE", timedelta(seconds=0.2))
        with pytest.raises(StoreUnavailable):
            async with asyncio.timeout(LONG):
                await upgrade(url)


@without_tables
async def test_whoever_gives_up_opening_does_not_wait_for_the_migration_any_more(
    open_another: OpenAnother, clock: ManualClock, url: str
) -> None:
    async with another(url) as other, other.transaction():
        await other.execute(f"SELECT pg_advisory_xact_lock({MIGRATION_LOCK})")
        opening = asyncio.ensure_future(open_another())
        await until_somebody_waits(other)
        opening.cancel()
        async with asyncio.timeout(10):
            await asyncio.wait([opening])
        assert opening.cancelled()
        assert ask(url, "SELECT pid FROM pg_locks WHERE NOT granted") == []
    await begin((await open_another()).journal, clock)


def update(*numbers: int) -> Callable[[Connection], None]:
    def work(connection: Connection) -> None:
        for number in numbers:
            connection.exec_driver_sql(f"UPDATE t SET v = v + 1 WHERE n = {number}")

    return work


async def test_who_gives_way_in_a_circle_of_waiting_is_done_again(url: str) -> None:
    ask(url, "CREATE TABLE t AS SELECT n, 0 AS v FROM generate_series(1, 2) n")
    writer = Writer(transactions_of(url))
    async with another(url) as other:
        async with other.transaction():
            await other.execute("UPDATE t SET v = v + 1 WHERE n = 2")
            waiting = asyncio.create_task(writer.run(update(1, 2)))
            await until_somebody_waits(other)
            await other.execute("UPDATE t SET v = v + 1 WHERE n = 1")
        await waiting
    await writer.close()
    assert ask(url, "SELECT v FROM t") == [(2,), (2,)]


async def test_a_connection_that_was_lost_while_idle_is_nobodys_error(
    store: SqlStore, clock: ManualClock, url: str
) -> None:
    run_id = await begin(store.journal, clock)
    await store.journal.read(run_id)
    cut_off_all(url)
    await store.journal.intend(run_id, stamps(clock, replied()), expected_seq=1)
    assert len(await store.journal.read(run_id)) == 2


async def test_who_stops_waiting_for_a_connection_leaves_none_open(url: str) -> None:
    """As a store that is closed while it connects again."""
    server = Server(make_url(url), timedelta(seconds=5))
    async with another(url) as connection:
        for turns in range(60):
            connecting = asyncio.ensure_future(server.connect())
            for _ in range(turns):
                await asyncio.sleep(0.0005)
            connecting.cancel()
            (outcome,) = await asyncio.gather(connecting, return_exceptions=True)
            if isinstance(outcome, asyncpg.Connection):
                await outcome.close()
                break
            del connecting, outcome
            gc.collect()

        async def none_is_open() -> bool:
            ours = "application_name = 'pilothouse' AND datname = current_database()"
            return not await connection.fetchval(
                f"SELECT count(*) FROM pg_stat_activity WHERE {ours}"
            )

        await until(none_is_open)


async def test_a_claim_looks_for_what_is_due_in_its_index(
    store: SqlStore, clock: ManualClock, url: str
) -> None:
    """A clock that is asked row by row would be compared row by row, however many sleep."""
    claim = RUNS.claim.compile(dialect=postgresql.dialect(paramstyle="named"))  # type: ignore[no-untyped-call]
    given = {"new_holder": "'p'", "now": "NULL::bigint", "term": "1"}
    values = claim.params | given
    statement = str(claim).replace("__[POSTCOMPILE_but_not]", "'run_1'")
    statement = statement.replace("__[POSTCOMPILE_at_most]", "1")
    statement = re.sub(r"(?<!:):(\w+)", lambda name: str(values[name[1]]), statement)
    async with another(url) as connection:
        await connection.execute("SET enable_seqscan = off")
        plan = await connection.fetch(f"EXPLAIN {statement}")
    assert "Index Cond: (wake_at <=" in "\n".join(row[0] for row in plan)


async def test_a_value_that_no_column_takes_is_refused_and_the_store_goes_on(
    store: SqlStore, clock: ManualClock
) -> None:
    with pytest.raises(StoreError) as refused:
        await begin(store.journal, clock, "run\x00")
    assert not isinstance(refused.value, StoreUnavailable)
    await begin(store.journal, clock, "run_1")


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"database": "nowhere"}, StoreUnavailable),
        ({"query": {"host": "/nowhere"}}, StoreUnavailable),
        ({"query": {"sslmode": "perhaps"}}, ConfigError),
    ],
)
async def test_a_server_that_can_not_be_used_says_so(
    url: str, change: dict[str, Any], error: type[Exception]
) -> None:
    changed = make_url(url).set(password="secret", **change)
    with pytest.raises(error) as refused:
        await open_store(changed.render_as_string(hide_password=False))
    assert "secret" not in str(refused.value)


async def test_what_was_right_at_the_opening_is_unavailable_when_it_is_wrong_later(
    store: SqlStore, clock: ManualClock, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A certificate is replaced while the store is open. That ends no process."""
    cut_off_all(url)
    with monkeypatch.context() as later:
        later.setenv("PGSSLMODE", "perhaps")
        with pytest.raises(StoreUnavailable):
            await begin(store.journal, clock)
    await begin(store.journal, clock)


async def test_a_url_as_providers_write_it_is_understood(url: str) -> None:
    store = await open_store(url.replace("postgresql://", "postgres://"))
    await store.close()
