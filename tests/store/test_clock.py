"""Where there is a server its clock judges, whatever a process takes for the time."""

from __future__ import annotations

import time
from datetime import datetime, timedelta

import pytest

from agent.errors import SeqConflict
from agent.ports import Lease
from agent.rules.ids import RunId
from store import SqlStore
from store.clock import DatabaseClock
from store.lease_tables import RUNS
from store.leases import SqlLeases
from store.writer import Writer
from tests.store.conftest import OpenAnother, on_postgres
from tests.store.database import ask
from tests.store.outside import in_transaction, transactions_of
from tests.store.story import begin, decided, replied, requested, stamps

pytestmark = [on_postgres, pytest.mark.usefixtures("kind")]

TERM = timedelta(hours=1)
#: What a test may take at most.
A_WHILE = timedelta(seconds=50)


def time_of(url: str) -> datetime:
    ((now,),) = ask(url, "SELECT clock_timestamp()")
    assert isinstance(now, datetime)
    return now


@pytest.fixture(params=[-3600.0, 3600.0 * 2])
def host_is_wrong(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The host's clock is off by so many seconds, for this process."""
    right = time.time
    monkeypatch.setattr(time, "time", lambda: right() + request.param)


@pytest.fixture
async def store(open_another: OpenAnother) -> SqlStore:
    """By its own clock."""
    return await open_another(clock=None)


@pytest.mark.usefixtures("host_is_wrong")
async def test_events_are_stamped_with_the_databases_time(store: SqlStore, url: str) -> None:
    before = time_of(url)
    run_id = await begin(store.journal, store.clock)
    (recorded,) = await store.journal.read(run_id)
    # Half a question's way at most, each time.
    assert before - timedelta(seconds=1) < recorded.at < time_of(url) + timedelta(seconds=1)


@pytest.mark.usefixtures("host_is_wrong")
async def test_a_lease_ends_by_the_databases_time(
    store: SqlStore, open_another: OpenAnother, url: str
) -> None:
    other = await open_another(clock=None)
    await begin(store.journal, store.clock)
    before = time_of(url)
    (lease,) = await store.run_leases.claim("p1", TERM, 1)
    assert before + TERM <= lease.expires_at <= time_of(url) + TERM
    assert await other.run_leases.claim("p2", TERM, 1) == []
    (renewed,) = (await store.run_leases.renew("p1", [lease], TERM)).extended
    assert lease.expires_at < renewed.expires_at < lease.expires_at + A_WHILE
    ask(url, "UPDATE runs SET wake_at = wake_at - ?", TERM // timedelta(microseconds=1))
    assert len(await other.run_leases.claim("p2", TERM, 1)) == 1


@pytest.mark.usefixtures("host_is_wrong")
async def test_an_approval_expires_by_the_databases_time(store: SqlStore, url: str) -> None:
    run_id = await begin(store.journal, store.clock)
    now = time_of(url)
    for n, expires_at in enumerate((now, now + A_WHILE)):
        asked = requested(f"apr_{n}", f"call_{n}", expires_at=expires_at)
        events = stamps(store.clock, replied(f"call_{n}"), asked)
        await store.journal.intend(run_id, events, expected_seq=1 + 2 * n)
    with pytest.raises(SeqConflict):
        await store.journal.intend(run_id, stamps(store.clock, decided("apr_0")), expected_seq=5)
    await store.journal.intend(run_id, stamps(store.clock, decided("apr_1")), expected_seq=5)


async def test_between_two_measurements_time_goes_by_the_monotonic_clock(url: str) -> None:
    passed = [100.0]
    clock = DatabaseClock(lambda: passed[0])
    in_transaction(url, clock.measure)
    measured = clock.now()
    assert abs(measured - time_of(url)) < A_WHILE
    passed[0] += 0.25
    assert clock.now() - measured == timedelta(seconds=0.25)


async def test_a_renewal_measures_again(url: str) -> None:
    """The monotonic clock of a host that slept is behind."""
    passed = [100.0]
    clock, writer = DatabaseClock(lambda: passed[0]), Writer(transactions_of(url))
    await writer.run(clock.measure)
    passed[0] += 3600
    assert clock.now() - time_of(url) > A_WHILE
    lease = Lease(RunId("run_0"), "p1", 1, clock.now())
    await SqlLeases(RUNS, writer, clock).renew("p1", [lease], TERM)
    assert abs(clock.now() - time_of(url)) < A_WHILE
    await writer.close()
