"""What waits is committed together, and nobody's trouble is another's."""

from __future__ import annotations

import asyncio
import random
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from datetime import timedelta

import pytest
from sqlalchemy import Connection, make_url

from agent.errors import CommitInDoubt, LeaseLost, StoreError, StoreUnavailable
from store import SqlStore
from store.postgres import PostgresTransactions
from store.queued import LAST
from store.server import Server
from store.wakeups import stir
from store.writer import Writer, of_start, of_thread
from tests.store.clock import ManualClock
from tests.store.conftest import OpenAnother, on_postgres, on_sqlite
from tests.store.database import ask, cut_off_all, locked
from tests.store.outside import transactions_of
from tests.store.story import begin, replied, returned, stamps

TERM = timedelta(seconds=30)
Work = Callable[[Connection], object]


@pytest.fixture
async def writer(url: str) -> AsyncIterator[Writer]:
    writer = Writer(transactions_of(url))
    await writer.run(statement("CREATE TABLE t (n INTEGER PRIMARY KEY)"))
    yield writer
    await writer.close()


def statement(text: str) -> Work:
    return lambda connection: connection.exec_driver_sql(text).close()


def insert(number: int) -> Work:
    return statement(f"INSERT INTO t VALUES ({number})")


async def numbers(writer: Writer) -> list[int]:
    return await writer.run(
        lambda c: [n for (n,) in c.exec_driver_sql("SELECT n FROM t ORDER BY n").all()]
    )


async def in_one_group(
    writer: Writer, *works: Work, names: Sequence[str] | None = None
) -> list[object]:
    """Run works in one transaction: they gather behind one that does not end before they wait."""
    is_running, may_end = threading.Event(), threading.Event()

    def stand_in_the_way(_: Connection) -> None:
        is_running.set()
        may_end.wait()

    first = asyncio.create_task(writer.run(stand_in_the_way))
    await asyncio.to_thread(is_running.wait)
    named = zip(works, names or [""] * len(works), strict=True)
    rest = [asyncio.create_task(writer.run(work, of=name)) for work, name in named]
    await asyncio.sleep(0)  # each of them has been started once, and stands in the queue
    may_end.set()
    await first
    return await asyncio.gather(*rest, return_exceptions=True)


def insert_and_fail(number: int, error: Exception) -> Work:
    def work(connection: Connection) -> None:
        insert(number)(connection)
        raise error

    return work


async def test_a_failure_undoes_its_own_work_alone(writer: Writer) -> None:
    lost = LeaseLost("run_1", 1)
    outcomes = await in_one_group(writer, insert(1), insert_and_fail(2, lost), insert(3))
    assert outcomes == [None, lost, None]
    assert await numbers(writer) == [1, 3]


async def test_a_single_failure_is_undone_too(writer: Writer) -> None:
    with pytest.raises(LeaseLost):
        await writer.run(insert_and_fail(1, LeaseLost("run_1", 1)))
    assert await numbers(writer) == []


async def test_a_broken_constraint_is_one_callers_error(writer: Writer) -> None:
    one, twice, other = await in_one_group(writer, insert(1), insert(1), insert(2))
    assert (one, other) == (None, None)
    assert isinstance(twice, StoreError)
    assert not isinstance(twice, StoreUnavailable)
    assert await numbers(writer) == [1, 2]


@on_sqlite
async def test_an_error_that_may_end_the_transaction_is_one_callers_error(
    writer: Writer,
) -> None:
    outcomes = await in_one_group(
        writer, insert(1), statement("INSERT INTO nowhere VALUES (1)"), insert(2)
    )
    assert isinstance(outcomes[1], StoreUnavailable)
    assert outcomes[1].__cause__ is not None
    assert (outcomes[0], outcomes[2]) == (None, None)
    assert await numbers(writer) == [1, 2]


@on_sqlite
async def test_a_full_disk_changes_nothing_and_is_survived(writer: Writer) -> None:
    pages = await writer.run(lambda c: c.exec_driver_sql("PRAGMA page_count").scalar_one())
    await writer.run(statement("CREATE TABLE big (text TEXT)"))
    await writer.run(statement(f"PRAGMA max_page_count = {pages + 2}"))
    fill = statement("INSERT INTO big SELECT hex(zeroblob(1000000))")
    outcomes = await in_one_group(writer, insert(1), fill, insert(2))
    assert isinstance(outcomes[1], StoreUnavailable)
    assert (outcomes[0], outcomes[2]) == (None, None)
    assert await numbers(writer) == [1, 2]


@on_sqlite
async def test_an_error_that_ended_the_transaction_is_one_callers_error(writer: Writer) -> None:
    """As a disk's failure does, below our feet."""

    def end_and_fail(connection: Connection) -> None:
        statement("ROLLBACK")(connection)
        statement("INSERT INTO nowhere VALUES (1)")(connection)

    outcomes = await in_one_group(writer, insert(1), end_and_fail, insert(2))
    assert isinstance(outcomes[1], StoreUnavailable)
    assert (outcomes[0], outcomes[2]) == (None, None)
    assert await numbers(writer) == [1, 2]


async def test_an_unexpected_error_reaches_its_caller_and_the_writer_goes_on(
    writer: Writer,
) -> None:
    with pytest.raises(ZeroDivisionError):
        await writer.run(insert_and_fail(1, ZeroDivisionError()))
    await writer.run(insert(2))
    assert await numbers(writer) == [2]


async def done_in_order(writer: Writer, *names: str) -> list[str]:
    done: list[str] = []

    def work(name: str) -> Work:
        return lambda _: done.append(name)

    await in_one_group(writer, *map(work, names), names=names)
    return done


@on_sqlite
async def test_a_file_is_written_in_the_order_in_which_it_was_asked_for(writer: Writer) -> None:
    assert await done_in_order(writer, "b", LAST, "a") == ["b", LAST, "a"]


@on_postgres
async def test_rows_are_locked_in_the_order_of_their_names(writer: Writer) -> None:
    assert await done_in_order(writer, "b", LAST, of_start("a"), of_thread("a"), "aa", "a") == [
        "a",
        of_thread("a"),
        "aa",
        "b",
        of_start("a"),
        LAST,
    ]


@on_postgres
async def test_starts_and_what_takes_rows_of_many_runs_have_no_others(writer: Writer) -> None:
    def transaction(connection: Connection) -> object:
        return connection.exec_driver_sql("SELECT pg_current_xact_id()::text").scalar()

    names = ["a", "b", of_start("a"), of_start("b"), LAST, LAST]
    one, two, *alone = await in_one_group(writer, *[transaction] * 6, names=names)
    assert one == two
    assert len({one, *alone}) == 5


@on_postgres
async def test_a_connection_that_is_lost_before_the_commit_costs_nobody_anything(
    writer: Writer, url: str
) -> None:
    cuts = 0

    def be_cut_off_once(connection: Connection) -> None:
        nonlocal cuts
        stir(connection)
        cuts += 1
        if cuts == 1:
            cut_off_all(url)

    assert await in_one_group(writer, insert(1), be_cut_off_once, insert(2)) == [None] * 3
    cuts = 0
    # Here it is lost when others are to be told.
    assert await in_one_group(writer, insert(3), be_cut_off_once) == [None] * 2
    assert await numbers(writer) == [1, 2, 3]


@on_postgres
async def test_of_a_commit_without_an_answer_nobody_says_that_it_was_done(
    writer: Writer, url: str
) -> None:
    tries = 0

    def be_cut_off(connection: Connection) -> None:
        nonlocal tries
        tries += 1
        cut_off_all(url)

    outcomes = await in_one_group(writer, insert(1), be_cut_off)
    assert [type(one) for one in outcomes] == [CommitInDoubt] * 2
    assert tries == 1
    assert await numbers(writer) == []


@on_postgres
async def test_who_waits_for_a_row_in_vain_is_the_only_one_to_hear_of_it(url: str) -> None:
    writer = Writer(transactions_of(url, timedelta(seconds=0.1)))
    await writer.run(statement("CREATE TABLE t (n INTEGER PRIMARY KEY)"))
    with locked(url):
        outcomes = await in_one_group(
            writer, insert(1), statement("LOCK TABLE runs IN EXCLUSIVE MODE"), insert(2)
        )
    assert isinstance(outcomes[1], StoreUnavailable)
    assert (outcomes[0], outcomes[2]) == (None, None)
    assert await numbers(writer) == [1, 2]
    await writer.close()


async def test_closing_finishes_what_waits_and_takes_nothing_more(writer: Writer) -> None:
    waiting = [asyncio.create_task(writer.run(insert(n))) for n in range(20)]
    await asyncio.sleep(0)
    await writer.close()
    assert await asyncio.gather(*waiting) == [None] * 20
    await writer.close()
    with pytest.raises(StoreUnavailable):
        await writer.run(insert(99))


async def test_cancelled_appenders_leave_a_whole_journal(
    store: SqlStore, clock: ManualClock
) -> None:
    run_id = await begin(store.journal, clock)
    (lease,) = await store.run_leases.claim("p1", TERM, 1)
    chance = random.Random(2)
    tasks = []
    for n in range(200):
        events = stamps(clock, returned(f"call_{n}"))
        tasks.append(asyncio.create_task(store.journal.record(run_id, events, fence=lease.fence)))
        if n % 2:
            for _ in range(chance.randrange(4)):
                await asyncio.sleep(0)
            tasks[chance.randrange(len(tasks))].cancel()
    outcomes = await asyncio.gather(*tasks, return_exceptions=True)
    answered = {one[0].seq for one in outcomes if isinstance(one, list)}
    (last,) = await store.journal.record(run_id, stamps(clock, returned("last")), fence=lease.fence)
    read = await store.journal.read(run_id)
    assert [one.seq for one in read] == list(range(1, last.seq + 1))
    assert answered <= {one.seq for one in read}
    assert len(answered) < 200
    assert (await store.verifier.check(run_id)).broken is None


async def test_cancelled_readers_leave_the_reader_usable(
    store: SqlStore, clock: ManualClock
) -> None:
    run_id = await begin(store.journal, clock)
    chance = random.Random(3)
    for _ in range(100):
        task = asyncio.create_task(store.journal.read(run_id))
        for _ in range(chance.randrange(12)):
            await asyncio.sleep(0)
        task.cancel()
    async with asyncio.timeout(5):
        assert len(await store.journal.read(run_id)) == 1


async def test_closing_lets_a_read_end(store: SqlStore, clock: ManualClock) -> None:
    run_id = await begin(store.journal, clock)
    reads = [asyncio.create_task(store.journal.read(run_id)) for _ in range(20)]
    await asyncio.sleep(0)
    await store.close()
    assert [len(await read) for read in reads] == [1] * 20


async def test_a_lock_of_two_seconds_is_survived(
    store: SqlStore, clock: ManualClock, url: str
) -> None:
    run_id = await begin(store.journal, clock)
    with locked(url) as let_go:
        asyncio.get_running_loop().call_later(2, let_go)
        await store.journal.intend(run_id, stamps(clock, replied()), expected_seq=1)
    assert len(await store.journal.read(run_id)) == 2


async def test_a_lock_that_outlasts_the_patience_makes_the_store_unavailable(
    open_another: OpenAnother, clock: ManualClock, url: str
) -> None:
    store = await open_another(patience=timedelta(seconds=0.1))
    run_id = await begin(store.journal, clock)
    with locked(url):
        with pytest.raises(StoreUnavailable) as unavailable:
            await store.journal.intend(run_id, stamps(clock, replied()), expected_seq=1)
        assert unavailable.value.__cause__ is not None
        assert len(await store.journal.read(run_id)) == 1
    await store.journal.intend(run_id, stamps(clock, replied()), expected_seq=1)
    assert len(await store.journal.read(run_id)) == 2


@on_sqlite
async def test_what_is_committed_is_synced_and_logged_ahead(writer: Writer) -> None:
    async def pragma(name: str) -> object:
        return await writer.run(lambda c: c.exec_driver_sql(f"PRAGMA {name}").scalar())

    assert await pragma("synchronous") == 2
    assert await pragma("journal_mode") == "wal"
    assert await pragma("foreign_keys") == 1


@on_postgres
@pytest.mark.parametrize("is_pooled", [False, True])
async def test_a_server_that_says_committed_too_early_says_it_later(
    url: str, is_pooled: bool
) -> None:
    def setting(connection: Connection) -> object:
        return connection.exec_driver_sql("SHOW synchronous_commit").scalar()

    assert ask(url, "SHOW synchronous_commit") == [("off",)]
    server = Server(make_url(url), timedelta(seconds=5), is_pooled=is_pooled)
    await server.look()
    writer = Writer(PostgresTransactions(server))
    assert await writer.run(setting) == "local"
    await writer.close()


async def test_a_closed_store_says_that_it_is(store: SqlStore, clock: ManualClock) -> None:
    run_id = await begin(store.journal, clock)
    await store.close()
    await store.close()
    with pytest.raises(StoreUnavailable):
        await store.journal.read(run_id)
    with pytest.raises(StoreUnavailable):
        await store.run_leases.claim("p1", TERM, 1)
    await store.wakeups.wait(store.wakeups.moves, 60)
