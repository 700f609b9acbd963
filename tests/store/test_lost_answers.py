"""The server has done it, and its answer does not arrive: it is found by its ids, and never done again."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest
from sqlalchemy import Connection, make_url

from agent.errors import CommitInDoubt, StoreUnavailable
from agent.ports import ThreadMessage
from agent.rules.control import StampedControl, SwitchTurned
from agent.rules.ids import EventId, Principal
from store import SqlStore, in_doubt
from tests.store.clock import ManualClock
from tests.store.conftest import OpenAnother, on_postgres
from tests.store.database import ask, cut_off_all
from tests.store.network import Network, network
from tests.store.outside import in_transaction
from tests.store.server import Server
from tests.store.story import begin, replied, stamps

pytestmark = [on_postgres, pytest.mark.usefixtures("kind")]

LONG = 30
COMMIT = b"COMMIT;"


@pytest.fixture
async def through(url: str) -> AsyncIterator[tuple[Network, str]]:
    async with network(url) as made:
        yield made


@pytest.fixture
def between(through: tuple[Network, str]) -> Network:
    return through[0]


@pytest.fixture
async def store(open_another: OpenAnother, through: tuple[Network, str]) -> SqlStore:
    return await open_another(url=through[1], patience=timedelta(seconds=1))


@pytest.mark.parametrize("question", [b"BEGIN", b"UPDATE runs"])
async def test_a_connection_that_the_server_ends_between_two_statements_is_nobodys_error(
    store: SqlStore, clock: ManualClock, between: Network, question: bytes
) -> None:
    """A server that is shut down ends what is in the middle of a transaction."""
    run_id = await begin(store.journal, clock)
    events = stamps(clock, replied())
    between.end_behind_answer_to(question)
    await store.journal.intend(run_id, events, expected_seq=1)
    assert between.has_ended
    assert [one.id for one in await store.journal.read(run_id)][1:] == [events[0].id]


async def test_a_read_behind_which_the_server_ends_the_connection_harms_no_other(
    store: SqlStore, clock: ManualClock, between: Network
) -> None:
    run_id = await begin(store.journal, clock)
    between.end_behind_answer_to(run_id.encode())
    for _ in range(3):
        assert len(await store.journal.read(run_id)) == 1
    assert between.has_ended


@pytest.mark.parametrize("is_done", [True, False])
async def test_an_append_is_there_once(
    store: SqlStore, clock: ManualClock, between: Network, is_done: bool
) -> None:
    run_id = await begin(store.journal, clock)
    events = stamps(clock, replied())
    between.end_at_answer_to(COMMIT if is_done else events[0].id.encode())
    recorded = await store.journal.intend(run_id, events, expected_seq=1)
    assert [one.seq for one in recorded] == [2]
    assert [one.id for one in await store.journal.read(run_id)][1:] == [events[0].id]


async def test_a_start_is_there_once(store: SqlStore, clock: ManualClock, between: Network) -> None:
    between.end_at_answer_to(COMMIT)
    assert await begin(store.journal, clock) == "run_1"
    assert [one.run_id for one in await store.lists.runs(limit=9)] == ["run_1"]


async def test_a_fact_of_the_control_journal_is_there_once(
    store: SqlStore, clock: ManualClock, between: Network
) -> None:
    turned = SwitchTurned(switch="all", is_on=True, by=Principal("cli:op"))
    between.end_at_answer_to(COMMIT)
    await store.control.record([StampedControl(EventId("evt_1"), clock.now(), turned)])
    assert [one.id for one in await store.control.read()] == ["evt_1"]


async def test_what_a_thread_is_about_to_show_is_known(
    store: SqlStore, clock: ManualClock, between: Network
) -> None:
    """Else it would count as posted, perhaps, and be looked for a long time before it is posted."""
    run_id = await begin(store.journal, clock, place="C1:1")
    (lease,) = await store.thread_leases.claim("p1", timedelta(hours=1), 1)
    message = ThreadMessage("status", "posting", None, "digest", clock.now())
    between.end_at_answer_to(COMMIT)
    await store.threads.save(lease, message)
    assert (await store.threads.known(run_id)).messages == {"status": message}
    between.end_at_answer_to(COMMIT)
    await store.threads.forget(lease, "status")
    assert (await store.threads.known(run_id)).messages == {}


async def test_a_read_is_read_again(store: SqlStore, clock: ManualClock, between: Network) -> None:
    run_id = await begin(store.journal, clock)
    between.end_at_answer_to(run_id.encode())
    assert len(await store.journal.read(run_id)) == 1


async def test_what_can_not_be_found_out_is_not_said_to_be_undone(
    store: SqlStore,
    clock: ManualClock,
    between: Network,
    url: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(in_doubt, "FOUND_OUT_WITHIN", 0.0)
    run_id = await begin(store.journal, clock)
    events = stamps(clock, replied())
    between.lose_answer_to(COMMIT)
    with pytest.raises(CommitInDoubt, match="It can't be told whether it was done"):
        async with asyncio.timeout(LONG):
            await store.journal.intend(run_id, events, expected_seq=1)
    assert ask(url, "SELECT head_seq FROM runs") == [(2,)]
    recorded = await store.journal.intend(run_id, events, expected_seq=1)
    assert [one.seq for one in recorded] == [2]


async def test_a_server_that_only_read_is_written_again_when_it_lets_us(
    open_another: OpenAnother, clock: ManualClock, url: str
) -> None:
    """Some providers do so to a database whose disk is full."""
    store = await open_another(clock=clock)
    let_write(url, "on")
    cut_off_all(url)
    with pytest.raises(StoreUnavailable, match="it can only be read"):
        await begin(store.journal, clock)
    let_write(url, "off")
    await begin(store.journal, clock)


async def test_a_server_that_was_killed_is_used_again_and_heard_again(
    open_another: OpenAnother, clock: ManualClock, server_of_kind: Server
) -> None:
    store, other = await open_another(), await open_another()
    run_id = await begin(store.journal, clock)
    server_of_kind.kill()
    for attempt in (begin(store.journal, clock, "run_2"), store.journal.read(run_id)):
        with pytest.raises(StoreUnavailable, match=r"can't be opened: .*\.$"):
            await attempt
    server_of_kind.start()
    await begin(store.journal, clock, "run_2")
    assert {one.run_id for one in await store.lists.runs(limit=9)} == {run_id, "run_2"}
    moves = store.wakeups.moves
    await begin(other.journal, clock, "run_3")
    async with asyncio.timeout(LONG):
        while store.wakeups.moves == moves:
            await store.wakeups.wait(moves, LONG)


def let_write(url: str, is_read_only: str) -> None:
    """What whoever connects from now on may do."""

    def work(connection: Connection) -> None:
        connection.exec_driver_sql("SET LOCAL transaction_read_only = off")
        name = make_url(url).database
        connection.exec_driver_sql(
            f"ALTER DATABASE {name} SET default_transaction_read_only = {is_read_only}"
        )

    in_transaction(url, work)
