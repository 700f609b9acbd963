"""A failed run is taken on again: its session has one active run then, as ever."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from agent.errors import GoneOn, SeqConflict, SessionBusy
from agent.rules.events import Event, RunFailed, RunFinished, RunReopened
from agent.rules.fold import fold
from agent.rules.ids import Principal, RunId, SessionId
from store import SqlStore
from tests.store.clock import ManualClock
from tests.store.conftest import OpenAnother
from tests.store.story import begin, replied, requested, returned, stamp, stamps, started

TERM = timedelta(seconds=30)
REOPENED = RunReopened(by=Principal("cli:op"))


async def fail(store: SqlStore, clock: ManualClock, *before: Event) -> RunId:
    """A run of ``s_run_1`` that has failed, at seq 2 and as many more as ``before``."""
    run_id = await begin(store.journal, clock)
    events = stamps(clock, *before, RunFailed(error="no"))
    await store.journal.intend(run_id, events, expected_seq=1)
    return run_id


async def test_a_failed_run_is_active_again_and_due(store: SqlStore, clock: ManualClock) -> None:
    run_id = await fail(store, clock)
    (lease,) = await store.run_leases.claim("p", TERM, 1)
    assert await store.run_leases.suspend(lease, seen_seq=2, until=None)
    await store.journal.intend(run_id, stamps(clock, REOPENED), expected_seq=2)
    row = await store.lists.run(run_id)
    assert row is not None
    assert row.status == "active"
    assert [one.run_id for one in await store.lists.runs(limit=9, active_only=True)] == [run_id]
    assert await store.lists.active_run(SessionId("s_run_1")) == row
    assert len(await store.run_leases.claim("p", TERM, 1)) == 1
    state = fold(await store.journal.read(run_id))
    assert (state.ending, state.reopened) == (None, 1)
    await store.journal.intend(run_id, stamps(clock, replied()), expected_seq=3)


@pytest.mark.parametrize("end", [None, RunFinished(answer="done")])
async def test_only_a_failed_run_is_taken_on_again(
    store: SqlStore, clock: ManualClock, end: Event | None
) -> None:
    run_id = await begin(store.journal, clock)
    if end is not None:
        await store.journal.intend(run_id, stamps(clock, end), expected_seq=1)
    with pytest.raises(SeqConflict):
        await store.journal.intend(run_id, stamps(clock, REOPENED), expected_seq=2 if end else 1)


async def test_it_can_fail_and_be_taken_on_once_more(store: SqlStore, clock: ManualClock) -> None:
    run_id = await fail(store, clock)
    twice = stamps(clock, REOPENED, REOPENED)
    with pytest.raises(SeqConflict):
        await store.journal.intend(run_id, twice, expected_seq=2)
    again = stamps(clock, REOPENED, RunFailed(error="no"), REOPENED)
    await store.journal.intend(run_id, again, expected_seq=2)
    assert fold(await store.journal.read(run_id)).reopened == 2


async def test_it_is_refused_while_the_session_has_another_active_run_and_after_that(
    store: SqlStore, clock: ManualClock
) -> None:
    run_id = await fail(store, clock)
    other = await store.journal.start(RunId("run_2"), stamp(clock, started("s_run_1")))
    with pytest.raises(SessionBusy) as busy:
        await store.journal.intend(run_id, stamps(clock, REOPENED), expected_seq=2)
    assert busy.value.run_id == other
    assert len(await store.journal.read(run_id)) == 2
    end = stamps(clock, RunFinished(answer="done"))
    await store.journal.intend(other, end, expected_seq=1)
    with pytest.raises(GoneOn) as gone_on:
        await store.journal.intend(run_id, stamps(clock, REOPENED), expected_seq=2)
    assert gone_on.value.newest == other


async def test_of_a_reopening_and_a_start_at_once_one_has_the_session(
    store: SqlStore, open_another: OpenAnother, clock: ManualClock
) -> None:
    run_id = await fail(store, clock)
    other = await open_another()
    outcomes = await asyncio.gather(
        store.journal.intend(run_id, stamps(clock, REOPENED), expected_seq=2),
        other.journal.start(RunId("run_2"), stamp(clock, started("s_run_1"))),
        return_exceptions=True,
    )
    # Whoever reopens may be told of the other as of what came next, too.
    assert sum(isinstance(one, SessionBusy | GoneOn) for one in outcomes) == 1, outcomes
    active = await store.lists.runs(limit=9, active_only=True)
    assert [row.run_id for row in active] == ["run_2" if outcomes[1] == "run_2" else run_id]


async def test_of_two_at_once_one_takes_it_on(
    store: SqlStore, open_another: OpenAnother, clock: ManualClock
) -> None:
    run_id = await fail(store, clock)
    stores = [store, await open_another()]
    outcomes = await asyncio.gather(
        *(
            stores[n % 2].journal.intend(run_id, stamps(clock, REOPENED), expected_seq=2)
            for n in range(6)
        ),
        return_exceptions=True,
    )
    assert sum(isinstance(one, SeqConflict) for one in outcomes) == 5


async def test_a_reopening_whose_answer_was_lost_is_found(
    store: SqlStore, clock: ManualClock
) -> None:
    run_id = await fail(store, clock)
    events = stamps(clock, REOPENED)
    first = await store.journal.intend(run_id, events, expected_seq=2)
    assert await store.journal.intend(run_id, events, expected_seq=2) == first


async def test_a_late_receipt_does_not_take_it_on(store: SqlStore, clock: ManualClock) -> None:
    run_id = await fail(store, clock, replied("call_1"))
    await store.journal.intend(run_id, stamps(clock, returned("call_1")), expected_seq=3)
    row = await store.lists.run(run_id)
    assert row is not None
    assert row.status == "failed"


async def test_what_was_asked_before_stays_cancelled(store: SqlStore, clock: ManualClock) -> None:
    """It is asked again, under a new name."""
    run_id = await fail(store, clock, replied("call_1"), requested("apr_1", "call_1"))
    again = requested("apr_2", "call_1", supersedes="apr_1")
    await store.journal.intend(run_id, stamps(clock, REOPENED, again), expected_seq=4)
    state = fold(await store.journal.read(run_id))
    rows = await store.lists.approvals(limit=9, pending_only=False)
    assert {row.approval_id: row.status for row in rows} == {
        approval.id: approval.status for approval in state.approvals.values()
    }
    assert [row.approval_id for row in await store.lists.approvals(limit=9)] == ["apr_2"]
