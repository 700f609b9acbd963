"""Appends through the writer: plain ones are done without a look, and lose nothing by whatever comes between."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import Connection, Engine, event, text

from agent.errors import (
    LeaseLost,
    PayloadsRemoved,
    SeqConflict,
    StoreUnavailable,
    VerdictsMoved,
)
from agent.rules.ids import RunId
from agent.rules.interventions import MessageReceived
from store import SqlStore
from store.chain import is_keyed
from store.cipher import key_of
from store.keys import new_key, parse_keys
from tests.store.clock import ManualClock
from tests.store.conftest import OpenAnother, on_postgres, on_sqlite
from tests.store.database import ask, cut_off_all, locked
from tests.store.network import network
from tests.store.outside import transactions_of
from tests.store.story import BOB, begin_shown, replied, requested, returned, stamp, stamps
from tests.store.test_standing import turned
from tests.store.test_verdicts import control, start

TERM = timedelta(seconds=30)


@contextmanager
def transactions() -> Iterator[list[Connection]]:
    """Those that SQLAlchemy has begun since: what is driven without it is not among them."""
    begun: list[Connection] = []
    note = begun.append
    event.listen(Engine, "begin", note)
    try:
        yield begun
    finally:
        event.remove(Engine, "begin", note)


@contextmanager
def statements() -> Iterator[list[str]]:
    """Those that SQLAlchemy has sent since: what is driven without it is not among them."""
    sent: list[str] = []

    def note(c: object, cursor: object, statement: str, *_: object) -> None:
        sent.append(statement.split()[0])

    event.listen(Engine, "before_cursor_execute", note)
    try:
        yield sent
    finally:
        event.remove(Engine, "before_cursor_execute", note)


async def test_nothing_is_read_for_a_plain_append(store: SqlStore) -> None:
    run_id = await begin_shown(store, store.clock)
    (lease,) = await store.run_leases.claim("p1", TERM, 1)
    first = stamps(store.clock, replied("call_1"))
    await store.journal.record(run_id, first, fence=lease.fence)
    with statements() as sent:
        for one in (returned("call_1"), replied("call_2"), returned("call_2")):
            await store.journal.record(run_id, stamps(store.clock, one), fence=lease.fence)
    assert sent == []
    assert len(await store.journal.read(run_id)) == 5
    assert (await store.verifier.check(run_id)).broken is None


async def in_one_group(store: SqlStore, *appends: Any) -> list[Any]:
    """They gather behind a work that does not end before they wait."""
    is_running, may_end = threading.Event(), threading.Event()

    def stand_in_the_way(_: Connection) -> None:
        is_running.set()
        may_end.wait()

    first = asyncio.create_task(store._database.writer.run(stand_in_the_way))
    await asyncio.to_thread(is_running.wait)
    rest = [asyncio.create_task(one) for one in appends]
    await asyncio.sleep(0)
    may_end.set()
    await first
    return await asyncio.gather(*rest, return_exceptions=True)


async def test_in_a_group_a_stale_fence_fails_alone(store: SqlStore) -> None:
    for n in range(3):
        await begin_shown(store, store.clock, f"run_{n}")
    leases = await store.run_leases.claim("p1", TERM, 3)
    for lease in leases:
        events = stamps(store.clock, replied())
        await store.journal.record(lease.run_id, events, fence=lease.fence)
    said = await in_one_group(
        store,
        *(
            store.journal.record(
                lease.run_id, stamps(store.clock, replied()), fence=lease.fence - (n == 1)
            )
            for n, lease in enumerate(leases)
        ),
    )
    assert [type(one) for one in said] == [list, LeaseLost, list]
    lengths = [len(await store.journal.read(lease.run_id)) for lease in leases]
    assert lengths == [3, 2, 3]


async def test_in_a_group_what_no_statement_takes_fails_alone(store: SqlStore) -> None:
    for n in range(3):
        await begin_shown(store, store.clock, f"run_{n}")
    leases = await store.run_leases.claim("p1", TERM, 3)
    records = store.journal.record
    for lease in leases:
        await records(lease.run_id, stamps(store.clock, replied()), fence=lease.fence)
    fences = [leases[0].fence, 2**70, leases[2].fence]
    said = await in_one_group(
        store,
        *(
            records(lease.run_id, stamps(store.clock, replied()), fence=fence)
            for lease, fence in zip(leases, fences, strict=True)
        ),
    )
    assert [isinstance(one, list) for one in said] == [True, False, True]


async def test_of_two_appends_to_a_run_in_a_group_each_follows_another_fact(
    store: SqlStore,
) -> None:
    run_id = await begin_shown(store, store.clock)
    (lease,) = await store.run_leases.claim("p1", TERM, 1)
    await store.journal.record(run_id, stamps(store.clock, replied()), fence=lease.fence)
    intends, records = store.journal.intend, store.journal.record
    said = await in_one_group(
        store,
        *(records(run_id, stamps(store.clock, replied()), fence=lease.fence) for _ in range(2)),
        intends(run_id, stamps(store.clock, replied()), expected_seq=2, fence=lease.fence),
    )
    assert [one if isinstance(one, Exception) else one[0].seq for one in said[:2]] == [3, 4]
    assert isinstance(said[2], SeqConflict)
    assert (await store.verifier.check(run_id)).broken is None


async def test_in_a_group_a_plain_append_passes_no_earlier_one_of_its_run(store: SqlStore) -> None:
    for n in range(2):
        await begin_shown(store, store.clock, f"run_{n}")
    leases = await store.run_leases.claim("p1", TERM, 2)
    for lease in leases:
        events = stamps(store.clock, replied())
        await store.journal.record(lease.run_id, events, fence=lease.fence)
    run_id = leases[0].run_id
    message = stamps(store.clock, MessageReceived(by=BOB, text="only 90"))
    said = await in_one_group(
        store,
        # From outside, which is not plain.
        store.journal.intend(run_id, message, expected_seq=2),
        *(
            store.journal.record(lease.run_id, stamps(store.clock, replied()), fence=lease.fence)
            for lease in leases
        ),
    )
    assert [one[0].seq for one in said] == [3, 4, 3]


async def test_nothing_of_a_run_passes_an_earlier_append_to_it(store: SqlStore) -> None:
    """However they are done: the messages, from outside, are no plain appends."""
    run_id = await begin_shown(store, store.clock)
    (lease,) = await store.run_leases.claim("p1", TERM, 1)
    await store.journal.record(run_id, stamps(store.clock, replied()), fence=lease.fence)

    async def record() -> int:
        events = stamps(store.clock, replied())
        return (await store.journal.record(run_id, events, fence=lease.fence))[0].seq

    async def say(behind: int) -> int:
        message = stamps(store.clock, MessageReceived(by=BOB, text="only 90"))
        return (await store.journal.intend(run_id, message, expected_seq=behind))[0].seq

    for head in range(2, 40, 4):
        said = await asyncio.gather(record(), record(), say(head + 2), record())
        assert [*said] == [head + 1, head + 2, head + 3, head + 4]


@on_sqlite
async def test_a_file_that_is_locked_is_waited_for_once(
    open_another: OpenAnother, url: str
) -> None:
    store = await open_another(patience=timedelta(seconds=0.1))
    run_id = await begin_shown(store, store.clock)
    (lease,) = await store.run_leases.claim("p1", TERM, 1)
    await store.journal.record(run_id, stamps(store.clock, replied()), fence=lease.fence)
    one = stamps(store.clock, replied())
    with locked(url):
        with transactions() as begun, pytest.raises(StoreUnavailable, match="keeps it locked"):
            await store.journal.record(run_id, one, fence=lease.fence)
        assert not begun, "it has waited in vain, and waited as long again"
    (recorded,) = await store.journal.record(run_id, one, fence=lease.fence)
    assert recorded.seq == 3


async def test_what_another_process_appended_is_followed(
    store: SqlStore, open_another: OpenAnother
) -> None:
    other = await open_another()
    run_id = await begin_shown(store, store.clock)
    (lease,) = await store.run_leases.claim("p1", TERM, 1)
    for n in range(4):
        handle = (store, other)[n % 2]
        await handle.journal.record(run_id, stamps(handle.clock, replied()), fence=lease.fence)
    assert [one.seq for one in await store.journal.read(run_id)] == [1, 2, 3, 4, 5]
    assert (await store.verifier.check(run_id)).broken is None


async def test_what_was_recorded_before_is_found_again(store: SqlStore) -> None:
    run_id = await begin_shown(store, store.clock)
    (lease,) = await store.run_leases.claim("p1", TERM, 1)
    await store.journal.record(run_id, stamps(store.clock, replied()), fence=lease.fence)
    again = stamp(store.clock, replied("call_1"))
    said = [await store.journal.record(run_id, [again], fence=lease.fence) for _ in range(2)]
    assert said[0] == said[1]
    assert len(await store.journal.read(run_id)) == 3


async def test_a_call_that_people_are_asked_about_is_not_plain(store: SqlStore) -> None:
    run_id = await begin_shown(store, store.clock)
    (lease,) = await store.run_leases.claim("p1", TERM, 1)
    asked = stamps(store.clock, replied("call_1"), requested("apr_1", "call_1"))
    await store.journal.record(run_id, asked, fence=lease.fence)
    back = stamps(store.clock, returned("call_1"))
    await store.journal.record(run_id, back, fence=lease.fence)
    approval = (await store.lists.approvals(limit=1, pending_only=False))[0]
    assert approval.status == "cancelled"


@on_postgres
@pytest.mark.parametrize("table", ["runs", "threads"])
async def test_a_row_that_somebody_has_keeps_nobody_else_waiting(
    table: str, store: SqlStore, url: str
) -> None:
    for n in range(2):
        await begin_shown(store, store.clock, f"run_{n}")
    leases = {one.run_id: one for one in await store.run_leases.claim("p1", TERM, 2)}

    def record(n: int) -> Any:
        run_id = RunId(f"run_{n}")
        events = stamps(store.clock, replied())
        return store.journal.record(run_id, events, fence=leases[run_id].fence)

    for n in range(2):
        await record(n)
    has_it, may_end = threading.Event(), threading.Event()

    def hold() -> None:
        def work(connection: Connection) -> None:
            row = f"SELECT 1 FROM {table} WHERE run_id = 'run_0' FOR UPDATE"
            connection.execute(text(row))
            has_it.set()
            may_end.wait()

        holder = transactions_of(url)
        holder.run(work)
        holder.dispose()

    holding = asyncio.create_task(asyncio.to_thread(hold))
    await asyncio.to_thread(has_it.wait)
    behind = asyncio.create_task(record(0))
    for _ in range(3):
        await record(1)
    assert not behind.done()
    may_end.set()
    await holding
    await behind
    assert ask(url, "SELECT head_seq FROM runs ORDER BY run_id") == [(3,), (5,)]


@on_postgres
@pytest.mark.parametrize("expected", [True, False])
async def test_an_append_whose_answer_was_lost_is_found(
    expected: bool, url: str, open_another: OpenAnother
) -> None:
    async with network(url) as (between, through):
        store = await open_another(url=through, patience=timedelta(seconds=1))
        run_id = await begin_shown(store, store.clock)
        (lease,) = await store.run_leases.claim("p1", TERM, 1)
        await store.journal.record(run_id, stamps(store.clock, replied()), fence=lease.fence)
        one = stamp(store.clock, replied("call_1"))
        between.lose_answer_to(one.id.encode())
        journal = store.journal
        if expected:
            said = await journal.intend(run_id, [one], expected_seq=2, fence=lease.fence)
        else:
            said = await journal.record(run_id, [one], fence=lease.fence)
        assert [(kept.seq, kept.id) for kept in said] == [(3, one.id)]
        assert len(await journal.read(run_id)) == 3
        await store.close()


@on_postgres
async def test_a_connection_that_was_lost_meanwhile_is_nobodys_trouble(
    store: SqlStore, url: str
) -> None:
    run_id = await begin_shown(store, store.clock)
    (lease,) = await store.run_leases.claim("p1", TERM, 1)
    for _ in range(3):
        await store.journal.record(run_id, stamps(store.clock, replied()), fence=lease.fence)
        cut_off_all(url)
    assert len(await store.journal.read(run_id)) == 4


async def test_what_was_judged_starts_behind_what_changes_verdicts(
    store: SqlStore, clock: ManualClock
) -> None:
    """Between the judging and the start a switch was turned: the start is no plain append, whatever is known."""
    run_id = await begin_shown(store, store.clock)
    (lease,) = await store.run_leases.claim("p1", TERM, 1)
    await store.journal.record(run_id, stamps(store.clock, replied()), fence=lease.fence)
    judged_by = await store.control.verdict_seq()
    await store.control.record([control(clock, turned("all", True))])
    starting = stamps(clock, start(clock))
    with pytest.raises(VerdictsMoved):
        await store.journal.intend(
            run_id, starting, expected_seq=2, fence=lease.fence, verdict_seq=judged_by
        )
    now = await store.control.verdict_seq()
    said = await store.journal.intend(
        run_id, starting, expected_seq=2, fence=lease.fence, verdict_seq=now
    )
    assert said[0].seq == 3


async def test_what_they_write_is_encrypted_and_takes_the_audit_key(
    open_another: OpenAnother, url: str
) -> None:
    keys = parse_keys(f"2026:{new_key()}", new_key())
    store = await open_another(keys=keys)
    run_id = await begin_shown(store, store.clock)
    (lease,) = await store.run_leases.claim("p1", TERM, 1)
    await store.journal.record(run_id, stamps(store.clock, replied()), fence=lease.fence)
    with statements() as sent:
        await store.journal.record(
            run_id, stamps(store.clock, returned("call_1")), fence=lease.fence
        )
    assert sent == []
    for hash, body in ask(url, "SELECT hash, body FROM journal"):
        assert is_keyed(hash)
        assert key_of(body) == "2026"
    assert (await store.verifier.check(run_id)).broken is None


async def test_nothing_is_put_behind_what_was_removed(store: SqlStore, url: str) -> None:
    run_id = await begin_shown(store, store.clock)
    (lease,) = await store.run_leases.claim("p1", TERM, 1)
    await store.journal.record(run_id, stamps(store.clock, replied()), fence=lease.fence)
    ask(url, "UPDATE runs SET purged = 1")
    with pytest.raises(PayloadsRemoved):
        await store.journal.record(
            run_id, stamps(store.clock, returned("call_1")), fence=lease.fence
        )
    assert ask(url, "SELECT count(*) FROM journal") == [(2,)]
