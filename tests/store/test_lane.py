"""Plain appends on a server take a way of their own: what of it is not seen by who appends."""

from __future__ import annotations

import asyncio
import re
from datetime import timedelta

import asyncpg
import pytest
from sqlalchemy import make_url

from agent.errors import CommitInDoubt, StoreUnavailable
from agent.ports import Lease
from store import SqlStore, in_doubt
from store.lane import SETTINGS
from store.moving_on_server import STATEMENT
from store.schema import runs
from tests.store.clock import ManualClock
from tests.store.conftest import OpenAnother, on_postgres
from tests.store.database import ask, cut_off_all
from tests.store.network import network
from tests.store.server import Server
from tests.store.story import begin, replied, requested, stamps
from tests.store.test_lost_answers import let_write
from tests.store.waiting import until

pytestmark = [on_postgres, pytest.mark.usefixtures("kind")]

TERM = timedelta(seconds=30)

BY_KEY = re.compile(r"Cond: \(+run_id = ")
GROWING = {"runs", "threads", "approvals", "reservations"}
#: How a plan says which rows of which table it reads.
SCAN = re.compile(r"(Seq Scan|Index(?: Only)? Scan using \w+|Bitmap Heap Scan) on (\w+)")


async def begun(store: SqlStore, n: int) -> list[Lease]:
    """Runs whose next append is plain."""
    for one in range(n):
        await begin(store.journal, store.clock, f"run_{one}")
    leases = sorted(await store.run_leases.claim("p1", TERM, n), key=lambda one: one.run_id)
    for lease in leases:
        await append(store, lease)
    return list(leases)


async def append(store: SqlStore, lease: Lease) -> int:
    events = stamps(store.clock, replied())
    (recorded,) = await store.journal.record(lease.run_id, events, fence=lease.fence)
    return recorded.seq


async def test_rows_are_found_by_their_keys_though_the_plan_was_made_for_empty_tables(
    url: str,
) -> None:
    plain_url = make_url(url).set(drivername="postgresql").render_as_string(hide_password=False)
    connection = await asyncpg.connect(plain_url, server_settings=SETTINGS)
    try:
        await connection.execute(f"PREPARE it AS {STATEMENT}")
        nulls = ", ".join(["NULL"] * max(map(int, re.findall(r"\$(\d+)", STATEMENT))))
        found = await connection.fetch(f"EXPLAIN EXECUTE it({nulls})")
    finally:
        await connection.close()
    lines = [row[0] for row in found]
    read = set()
    for n, line in enumerate(lines):
        if (scan := SCAN.search(line)) and (table := scan[2]) in GROWING:
            read.add(table)
            assert scan[1] != "Seq Scan", line
            assert any(BY_KEY.search(below) for below in lines[n + 1 : n + 4]), line
    assert read == GROWING


def test_an_append_changes_nothing_that_an_index_is_of() -> None:
    """Else the server writes each of the row's indexes anew. When it is due is left as it was while it is held."""
    (update,) = re.findall(r"UPDATE runs SET (.*?) FROM unnest", STATEMENT, re.DOTALL)
    changed = set(re.findall(r"(?:^|, )(\w+)=", update))
    assert {"head_seq", "head_hash", "claims"} <= changed
    of_indexes = " ".join(
        f"{[column.name for column in index.columns]} {index.dialect_options['postgresql']['where']}"
        for index in runs.indexes
    )
    assert {one for one in changed if re.search(rf"\b{one}\b", of_indexes)} == {"wake_at"}


async def test_many_are_on_their_way_at_once_and_of_a_run_one_behind_the_other(
    store: SqlStore,
) -> None:
    leases = await begun(store, 20)
    said = await asyncio.gather(*(append(store, one) for _ in range(5) for one in leases))
    assert said == [seq for seq in range(3, 8) for _ in leases]
    for lease in leases:
        assert (await store.verifier.check(lease.run_id)).broken is None


async def test_what_is_not_plain_comes_behind_the_earlier_ones_of_its_run(store: SqlStore) -> None:
    (lease,) = await begun(store, 1)
    asked = stamps(store.clock, requested("apr_1", "call_1"))

    async def ask_somebody() -> int:
        (recorded,) = await store.journal.record(lease.run_id, asked, fence=lease.fence)
        return recorded.seq

    before = [append(store, lease) for _ in range(8)]
    behind = [append(store, lease) for _ in range(2)]
    assert await asyncio.gather(*before, ask_somebody(), *behind) == [*range(3, 14)]


async def test_what_nobody_waits_for_any_more_is_whole(store: SqlStore) -> None:
    leases = await begun(store, 4)
    for _ in range(10):
        waiting = [asyncio.create_task(append(store, one)) for one in leases]
        await asyncio.sleep(0)
        waiting[1].cancel()
        await asyncio.sleep(0)
        waiting[2].cancel()
        await asyncio.wait(waiting)
    for lease in leases:
        await append(store, lease)
        assert (await store.verifier.check(lease.run_id)).broken is None
    kept = {one.run_id: len(await store.journal.read(one.run_id)) for one in leases}
    assert kept[leases[0].run_id] == kept[leases[3].run_id] == 13


async def test_what_waits_is_finished_before_the_store_is_closed(store: SqlStore, url: str) -> None:
    leases = await begun(store, 9)
    waiting = [asyncio.create_task(append(store, one)) for one in leases * 2]
    await asyncio.sleep(0)
    await store.close()
    assert sorted(await asyncio.gather(*waiting)) == [3] * 9 + [4] * 9
    with pytest.raises(StoreUnavailable, match="closed"):
        await append(store, leases[0])
    of_ours = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'pilothouse'"
    assert ask(url, of_ours + " AND datname = current_database() AND pid <> pg_backend_pid()") == [
        (0,)
    ]


async def test_while_the_server_is_away_it_is_not_said_that_nothing_was_done(
    open_another: OpenAnother,
    url: str,
    server_of_kind: Server,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The answer is lost, and the server is killed before anybody could ask it."""
    monkeypatch.setattr(in_doubt, "FOUND_OUT_WITHIN", 0.0)
    async with network(url) as (between, through):
        store = await open_another(url=through, patience=timedelta(seconds=1))
        (lease,) = await begun(store, 1)
        events = stamps(store.clock, replied())
        between.lose_answer_to(events[0].id.encode())
        record = store.journal.record

        async def is_done() -> bool:
            return ask(url, "SELECT head_seq FROM runs") == [(3,)]

        appending = asyncio.create_task(record(lease.run_id, events, fence=lease.fence))
        await until(is_done)
        server_of_kind.kill()
        between.cut_off()
        with pytest.raises(CommitInDoubt, match="It can't be told whether it was done"):
            await appending
        server_of_kind.start()
        recorded = await record(lease.run_id, events, fence=lease.fence)
        assert [(one.seq, one.id) for one in recorded] == [(3, events[0].id)]
        await append(store, lease)
        assert [one.seq for one in await store.journal.read(lease.run_id)] == [1, 2, 3, 4]
        await store.close()


async def test_a_server_that_only_reads_for_a_while_is_written_again(
    store: SqlStore, url: str
) -> None:
    leases = await begun(store, 2)
    let_write(url, "on")
    cut_off_all(url)
    with pytest.raises(StoreUnavailable, match="it can only be read"):
        await append(store, leases[0])
    let_write(url, "off")
    assert [await append(store, one) for one in leases] == [3, 3]


async def test_a_store_whose_connections_were_lost_is_closed(store: SqlStore, url: str) -> None:
    (lease,) = await begun(store, 1)
    await append(store, lease)
    cut_off_all(url)
    await store.close()


async def test_another_default_isolation_changes_nothing(
    open_another: OpenAnother, clock: ManualClock, url: str
) -> None:
    ask(
        url,
        f"ALTER DATABASE {make_url(url).database} SET default_transaction_isolation = 'serializable'",
    )
    store = await open_another()
    leases = await begun(store, 12)
    await asyncio.gather(*(append(store, one) for _ in range(5) for one in leases))
    for lease in leases:
        assert (await store.verifier.check(lease.run_id)).broken is None
    plain_url = make_url(url).set(drivername="postgresql").render_as_string(hide_password=False)
    connection = await asyncpg.connect(plain_url, server_settings=SETTINGS)
    try:
        assert await connection.fetchval("SHOW transaction_isolation") == "read committed"
    finally:
        await connection.close()


async def test_very_many_of_one_run_are_not_each_a_transaction(store: SqlStore, url: str) -> None:
    (lease,) = await begun(store, 1)
    said = await asyncio.gather(*(append(store, lease) for _ in range(300)))
    assert said == list(range(3, 303))
    ((transactions,),) = ask(url, "SELECT count(DISTINCT xmin::text) FROM journal WHERE seq > 2")
    assert transactions < 30
    assert (await store.verifier.check(lease.run_id)).broken is None
