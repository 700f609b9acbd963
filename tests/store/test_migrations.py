"""A store that an older build made, and one that older builds still use."""

from __future__ import annotations

from datetime import timedelta

from agent.rules.events import CallPreviewed, RunFinished
from agent.rules.fold import fold
from agent.rules.ids import CallId, RunId
from store import migrations
from store.bodies import write_body
from store.chain import BEGINNING, hash_fact
from store.instants import EPOCH
from tests.store.clock import ManualClock
from tests.store.conftest import OpenAnother, without_tables
from tests.store.database import ask, make_database
from tests.store.story import replied, stamp, stamps, started

TERM = timedelta(seconds=30)
RUN = RunId("run_old")


def begin_as_the_first_build(url: str, clock: ManualClock) -> None:
    """A run that was started by a build of 0001, row by row."""
    fact = write_body(stamp(clock, started()))
    at = (fact.at - EPOCH) // timedelta(microseconds=1)
    first = hash_fact(BEGINNING, RUN, 1, fact.id, fact.body)
    ask(
        url,
        "INSERT INTO runs (run_id, agent, session, requester, status, head_seq, head_hash, wake_at,"
        " fence, started_at, updated_at, format)"
        " VALUES (?, 'refunds', 's_1', 'alice', 'active', 1, ?, ?, 0, ?, ?, 1)",
        *(RUN, first, at, at, at),
    )
    ask(
        url,
        "INSERT INTO journal (run_id, seq, event_id, at, hash, body) VALUES (?, 1, ?, ?, ?, ?)",
        *(RUN, fact.id, at, first, fact.body),
    )


@without_tables
async def test_a_store_of_before_is_brought_up_to_date_and_its_runs_go_on(
    open_another: OpenAnother, clock: ManualClock, url: str
) -> None:
    make_database(url, "0001")
    begin_as_the_first_build(url, clock)
    store = await open_another()
    assert ask(url, "SELECT version_num FROM alembic_version") == [(migrations.HEAD,)]
    (lease,) = await store.run_leases.claim("p1", TERM, 1)
    assert (lease.run_id, lease.claims) == (RUN, 1)
    end = stamps(clock, replied(), RunFinished(answer="done"))
    await store.journal.intend(RUN, end, expected_seq=1, fence=lease.fence)
    assert fold(await store.journal.read(RUN)).answer == "done"
    assert (await store.verifier.check(RUN)).broken is None
    assert await store.control.read() == []
    assert (await store.verifier.check_control()).broken is None


async def test_an_older_build_starts_runs_in_a_store_that_is_up_to_date(
    open_another: OpenAnother, clock: ManualClock, url: str
) -> None:
    store = await open_another()
    begin_as_the_first_build(url, clock)
    (lease,) = await store.run_leases.claim("p1", TERM, 1)
    assert lease.claims == 1


async def test_a_run_is_an_older_builds_too_until_it_holds_what_that_can_not_read(
    open_another: OpenAnother, clock: ManualClock, url: str
) -> None:
    """Then the older one would claim it, find facts that it can't read, and put it off."""
    store = await open_another()
    begin_as_the_first_build(url, clock)
    await store.run_leases.claim("p1", TERM, 1)
    await store.journal.intend(RUN, stamps(clock, replied()), expected_seq=1)
    assert ask(url, "SELECT format FROM runs") == [(1,)]
    said = CallPreviewed(call_id=CallId("call_1"), preview="to card 42")
    await store.journal.intend(RUN, stamps(clock, said), expected_seq=2)
    assert ask(url, "SELECT format FROM runs") == [(2,)]


async def test_a_run_of_a_newer_form_stays_one(
    open_another: OpenAnother, clock: ManualClock, url: str
) -> None:
    store = await open_another()
    begin_as_the_first_build(url, clock)
    ask(url, "UPDATE runs SET format = 99")
    await store.journal.intend(RUN, stamps(clock, replied()), expected_seq=1)
    assert ask(url, "SELECT format FROM runs") == [(99,)]
