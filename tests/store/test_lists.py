from __future__ import annotations

from datetime import timedelta

import pytest

from agent.rules.events import RunFailed, RunFinished
from agent.rules.ids import ApprovalId, Principal, RunId, SessionId
from agent.rules.interventions import ApprovalAskedAgain, ApprovalExpired
from store import SqlStore
from store.lists import RUNS_BY, RUNS_OF_SESSION
from store.waiting import UNDECIDED
from tests.store.clock import ManualClock
from tests.store.conftest import on_sqlite
from tests.store.plans import steps_on_file
from tests.store.story import BOB, begin, replied, requested, stamps

TERM = timedelta(seconds=30)


async def test_runs_are_listed_newest_first(store: SqlStore, clock: ManualClock) -> None:
    for n in range(3):
        await begin(store.journal, clock, f"run_{n}")
        clock.move(TERM)
    await store.journal.intend(
        RunId("run_1"), stamps(clock, RunFinished(answer="done")), expected_seq=1
    )
    assert [row.run_id for row in await store.lists.runs(limit=10)] == ["run_2", "run_1", "run_0"]
    assert [row.run_id for row in await store.lists.runs(limit=1)] == ["run_2"]


async def test_the_runs_of_one_person_are_found_among_everybodys(
    store: SqlStore, clock: ManualClock
) -> None:
    for n, who in enumerate(("alice", "bob", "alice", "bob", "bob")):
        await begin(store.journal, clock, f"run_{n}", requester=who)
        clock.move(TERM)
    rows = await store.lists.runs(limit=10, requester=Principal("alice"))
    assert [row.run_id for row in rows] == ["run_2", "run_0"]
    assert await store.lists.runs(limit=10, requester=Principal("eve")) == []


async def test_those_that_have_not_ended_are_listed_alone(
    store: SqlStore, clock: ManualClock
) -> None:
    for n, who in enumerate(("alice", "bob", "alice", "alice", "bob")):
        await begin(store.journal, clock, f"run_{n}", requester=who)
        clock.move(TERM)
    for n, end in ((1, RunFinished(answer="done")), (2, RunFailed(error="no"))):
        await store.journal.intend(RunId(f"run_{n}"), stamps(clock, end), expected_seq=1)
    rows = await store.lists.runs(limit=10, active_only=True)
    assert [row.run_id for row in rows] == ["run_4", "run_3", "run_0"]
    rows = await store.lists.runs(limit=2, active_only=True)
    assert [row.run_id for row in rows] == ["run_4", "run_3"]
    rows = await store.lists.runs(limit=10, active_only=True, requester=Principal("alice"))
    assert [row.run_id for row in rows] == ["run_3", "run_0"]


async def test_the_runs_of_a_session_are_listed_newest_first(
    store: SqlStore, clock: ManualClock
) -> None:
    for n in range(3):
        await begin(store.journal, clock, f"run_{n}", session="one")
        await begin(store.journal, clock, f"other_{n}", session=f"of_{n}")
        await store.journal.intend(
            RunId(f"run_{n}"), stamps(clock, RunFinished(answer="done")), expected_seq=1
        )
        clock.move(TERM)
    one = SessionId("one")
    rows = await store.lists.runs_of_session(one, limit=10)
    assert [row.run_id for row in rows] == ["run_2", "run_1", "run_0"]
    assert [row.run_id for row in await store.lists.runs_of_session(one, limit=1)] == ["run_2"]


@on_sqlite
@pytest.mark.usefixtures("store")
def test_the_runs_of_a_session_are_found_by_an_index_of_their_own(url: str) -> None:
    (plan,) = steps_on_file(url, RUNS_OF_SESSION, at_most=10, of_session="one")
    assert "runs_newest_of_session" in plan


@on_sqlite
@pytest.mark.usefixtures("store")
def test_those_that_have_not_ended_are_found_by_an_index_of_their_own(url: str) -> None:
    (plan,) = steps_on_file(url, RUNS_BY[False, True], at_most=10)
    assert "runs_newest_active" in plan


@on_sqlite
@pytest.mark.usefixtures("store")
def test_somebodys_runs_that_have_not_ended_are_found_without_those_that_have(url: str) -> None:
    (plan,) = steps_on_file(url, RUNS_BY[True, True], at_most=10, of_requester="slack:T1:UALICE")
    assert "SEARCH runs USING INDEX runs_newest_active_of_requester" in plan


@on_sqlite
@pytest.mark.usefixtures("store")
def test_what_nobody_decided_is_found_without_what_was_decided(url: str) -> None:
    steps = steps_on_file(url, UNDECIDED, at_most=10)
    assert "SEARCH awaited USING COVERING INDEX awaited_oldest (kind=?)" in steps[0]
    assert not [step for step in steps if step.startswith("SCAN")]


async def test_a_session_leads_to_its_active_run_alone(store: SqlStore, clock: ManualClock) -> None:
    run_id = await begin(store.journal, clock)
    row = await store.lists.active_run(SessionId("s_run_1"))
    assert row is not None
    assert (row.run_id, row.agent, row.status, row.head_seq) == (run_id, "refunds", "active", 1)
    await store.journal.intend(run_id, stamps(clock, RunFinished(answer="done")), expected_seq=1)
    assert await store.lists.active_run(SessionId("s_run_1")) is None


async def test_a_row_names_its_holder_while_the_lease_lives(
    store: SqlStore, clock: ManualClock
) -> None:
    run_id = await begin(store.journal, clock)
    await store.run_leases.claim("p1", TERM, 1)
    row = await store.lists.run(run_id)
    assert row is not None
    assert row.holder == "p1"
    clock.move(TERM)
    row = await store.lists.run(run_id)
    assert row is not None
    assert row.holder is None


async def test_nothing_is_listed_of_a_run_that_never_began(store: SqlStore) -> None:
    assert await store.lists.run(RunId("run_0")) is None
    assert await store.lists.runs(limit=10) == []


async def test_what_nobody_decided_in_time_is_listed_until_it_is_asked_again_or_its_run_has_ended(
    store: SqlStore, clock: ManualClock
) -> None:
    until = clock.now() + TERM
    for n in (1, 2, 3):
        run_id = await begin(store.journal, clock, f"run_{n}")
        asked = requested(f"apr_{n}", f"call_{n}", expires_at=until)
        events = stamps(clock, replied(f"call_{n}"), asked)
        await store.journal.intend(run_id, events, expected_seq=1)
    assert await store.lists.undecided(limit=9) == []
    clock.move(TERM)
    for n in (1, 2):
        expired = ApprovalExpired(approval_id=ApprovalId(f"apr_{n}"))
        await store.journal.intend(RunId(f"run_{n}"), stamps(clock, expired), expected_seq=3)

    async def listed(limit: int = 9) -> list[str]:
        return [row.approval_id for row in await store.lists.undecided(limit=limit)]

    assert await listed() == ["apr_1", "apr_2"]
    assert await listed(1) == ["apr_1"]
    again = ApprovalAskedAgain(approval_id=ApprovalId("apr_1"), by=BOB)
    newer = requested("apr_9", "call_1", supersedes="apr_1")
    await store.journal.intend(RunId("run_1"), stamps(clock, again, newer), expected_seq=4)
    assert await listed() == ["apr_2"]
    await store.journal.intend(RunId("run_2"), stamps(clock, RunFailed(error="no")), expected_seq=4)
    assert await listed() == []
