from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from agent.errors import SeqConflict
from agent.rules.events import CallRefused, Event, RunFailed, RunFinished
from agent.rules.fold import fold
from agent.rules.ids import ApprovalId, CallId, OperationId, RunId
from agent.rules.parts import ApprovalKind, DecisionAction
from store import SqlStore
from tests.store.clock import ManualClock
from tests.store.conftest import OpenAnother
from tests.store.story import (
    ALICE,
    begin,
    decided,
    replied,
    requested,
    returned,
    stamps,
    voted,
)

MOMENT = timedelta(microseconds=1)
HOUR = timedelta(hours=1)


async def ask_one(
    store: SqlStore, clock: ManualClock, expires_in: timedelta | None = None
) -> RunId:
    """A run that waits for ``apr_1`` at seq 3."""
    run_id = await begin(store.journal, clock)
    expires_at = None if expires_in is None else clock.now() + expires_in
    events = stamps(clock, replied("call_1"), requested("apr_1", "call_1", expires_at=expires_at))
    await store.journal.intend(run_id, events, expected_seq=1)
    return run_id


async def status_of(store: SqlStore, approval_id: str) -> str | None:
    row = await store.lists.approval(ApprovalId(approval_id))
    return None if row is None else row.status


async def test_of_nine_decisions_at_once_one_is_taken(
    store: SqlStore, open_another: OpenAnother, clock: ManualClock
) -> None:
    run_id = await ask_one(store, clock)
    stores = [store, await open_another(), await open_another()]
    outcomes = await asyncio.gather(
        *(
            stores[n % 3].journal.intend(
                run_id,
                stamps(clock, decided("apr_1", "approve" if n % 2 else "deny")),
                expected_seq=3,
            )
            for n in range(9)
        ),
        return_exceptions=True,
    )
    assert sum(isinstance(one, SeqConflict) for one in outcomes) == 8
    state = fold(await store.journal.read(run_id))
    assert state.seq == 4
    assert await status_of(store, "apr_1") == state.approvals[ApprovalId("apr_1")].status


async def test_a_second_decision_is_refused_even_where_the_journal_has_not_moved(
    store: SqlStore, clock: ManualClock
) -> None:
    run_id = await ask_one(store, clock)
    await store.journal.intend(run_id, stamps(clock, decided("apr_1")), expected_seq=3)
    with pytest.raises(SeqConflict):
        await store.journal.intend(run_id, stamps(clock, decided("apr_1")), expected_seq=4)


async def test_a_decision_counts_until_just_before_the_expiry(
    store: SqlStore, clock: ManualClock
) -> None:
    run_id = await ask_one(store, clock, HOUR)
    clock.move(HOUR - MOMENT)
    await store.journal.intend(run_id, stamps(clock, decided("apr_1")), expected_seq=3)
    assert await status_of(store, "apr_1") == "approved"


@pytest.mark.parametrize("late", [timedelta(0), MOMENT])
async def test_a_decision_at_the_expiry_or_after_is_refused(
    store: SqlStore, clock: ManualClock, late: timedelta
) -> None:
    run_id = await ask_one(store, clock, HOUR)
    clock.move(HOUR + late)
    with pytest.raises(SeqConflict):
        await store.journal.intend(run_id, stamps(clock, decided("apr_1")), expected_seq=3)
    assert await status_of(store, "apr_1") == "pending"


async def test_the_stores_clock_judges_and_not_the_decisions_stamp(
    store: SqlStore, clock: ManualClock
) -> None:
    run_id = await ask_one(store, clock, HOUR)
    stamped_in_time = stamps(clock, decided("apr_1"))
    clock.move(HOUR)
    with pytest.raises(SeqConflict):
        await store.journal.intend(run_id, stamped_in_time, expected_seq=3)


async def test_a_superseded_approval_can_not_be_decided(
    store: SqlStore, clock: ManualClock
) -> None:
    run_id = await ask_one(store, clock)
    changed = stamps(clock, requested("apr_2", "call_1", supersedes="apr_1"))
    await store.journal.intend(run_id, changed, expected_seq=3)
    with pytest.raises(SeqConflict):
        await store.journal.intend(run_id, stamps(clock, decided("apr_1")), expected_seq=4)
    await store.journal.intend(run_id, stamps(clock, decided("apr_2")), expected_seq=4)
    assert await status_of(store, "apr_1") == "superseded"
    assert await status_of(store, "apr_2") == "approved"


async def test_a_steer_may_decide_supersede_and_decide_again_in_one_append(
    store: SqlStore, clock: ManualClock
) -> None:
    run_id = await ask_one(store, clock, HOUR)
    again = requested("apr_2", "call_1", supersedes="apr_1")
    steer = stamps(clock, decided("apr_1", "steer"), again, decided("apr_2"))
    await store.journal.intend(run_id, steer, expected_seq=3)
    state = fold(await store.journal.read(run_id))
    for approval_id in ("apr_1", "apr_2"):
        folded = state.approvals[ApprovalId(approval_id)].status
        assert await status_of(store, approval_id) == folded


@pytest.mark.parametrize("kind", ["call", "review"])
@pytest.mark.parametrize(
    "result",
    [
        returned("call_1"),
        CallRefused(call_id=CallId("call_1"), code="invalid_args", message="It does not fit."),
    ],
    ids=lambda event: event.kind,
)
async def test_a_call_that_has_its_result_is_asked_about_no_more(
    store: SqlStore, clock: ManualClock, kind: ApprovalKind, result: Event
) -> None:
    run_id = await begin(store.journal, clock)
    asked = [requested("apr_1", "call_1", kind=kind), requested("apr_2", "call_2")]
    events = stamps(clock, replied("call_1", "call_2"), *asked)
    await store.journal.intend(run_id, events, expected_seq=1)
    await store.journal.intend(run_id, stamps(clock, result), expected_seq=4)
    state = fold(await store.journal.read(run_id))
    assert state.approvals[ApprovalId("apr_1")].status == "cancelled"
    assert await status_of(store, "apr_1") == "cancelled"
    assert await status_of(store, "apr_2") == "pending"
    with pytest.raises(SeqConflict):
        await store.journal.intend(run_id, stamps(clock, decided("apr_1")), expected_seq=5)


@pytest.mark.parametrize(
    ("action", "status"),
    [
        *(("approve", "approved"), ("deny", "denied"), ("steer", "steered")),
        *(("answer", "answered"), ("settle", "settled")),
    ],
)
async def test_each_action_leaves_its_status(
    store: SqlStore, clock: ManualClock, action: DecisionAction, status: str
) -> None:
    run_id = await ask_one(store, clock)
    await store.journal.intend(run_id, stamps(clock, decided("apr_1", action)), expected_seq=3)
    assert await status_of(store, "apr_1") == status


class TestVotes:
    """A yes that is not yet enough: guarded like a decision, and the question stays open."""

    async def test_after_a_vote_the_approval_is_still_asked(
        self, store: SqlStore, clock: ManualClock
    ) -> None:
        run_id = await ask_one(store, clock)
        await store.journal.intend(run_id, stamps(clock, voted("apr_1", by=ALICE)), expected_seq=3)
        assert await status_of(store, "apr_1") == "pending"
        await store.journal.intend(run_id, stamps(clock, decided("apr_1")), expected_seq=4)
        assert await status_of(store, "apr_1") == "approved"

    @pytest.mark.parametrize("action", ["approve", "deny", "steer"])
    async def test_nobody_votes_on_what_is_decided(
        self, store: SqlStore, clock: ManualClock, action: DecisionAction
    ) -> None:
        run_id = await ask_one(store, clock)
        await store.journal.intend(run_id, stamps(clock, decided("apr_1", action)), expected_seq=3)
        with pytest.raises(SeqConflict):
            await store.journal.intend(run_id, stamps(clock, voted("apr_1")), expected_seq=4)

    async def test_nobody_votes_on_what_is_superseded_or_cancelled(
        self, store: SqlStore, clock: ManualClock
    ) -> None:
        run_id = await ask_one(store, clock)
        changed = stamps(clock, requested("apr_2", "call_1", supersedes="apr_1"))
        await store.journal.intend(run_id, changed, expected_seq=3)
        with pytest.raises(SeqConflict):
            await store.journal.intend(run_id, stamps(clock, voted("apr_1")), expected_seq=4)
        await store.journal.intend(run_id, stamps(clock, RunFailed(error="no")), expected_seq=4)
        with pytest.raises(SeqConflict):
            await store.journal.intend(run_id, stamps(clock, voted("apr_2")), expected_seq=5)

    @pytest.mark.parametrize("late", [timedelta(0), MOMENT])
    async def test_a_vote_counts_until_just_before_the_expiry(
        self, store: SqlStore, clock: ManualClock, late: timedelta
    ) -> None:
        run_id = await ask_one(store, clock, HOUR)
        clock.move(HOUR - MOMENT)
        await store.journal.intend(run_id, stamps(clock, voted("apr_1", by=ALICE)), expected_seq=3)
        clock.move(MOMENT + late)
        with pytest.raises(SeqConflict):
            await store.journal.intend(run_id, stamps(clock, voted("apr_1")), expected_seq=4)

    async def test_a_vote_in_another_run_is_none(self, store: SqlStore, clock: ManualClock) -> None:
        await ask_one(store, clock)
        other = await begin(store.journal, clock, "run_2")
        with pytest.raises(SeqConflict):
            await store.journal.intend(other, stamps(clock, voted("apr_1")), expected_seq=1)

    async def test_of_a_vote_and_a_denial_at_once_one_comes_first(
        self, store: SqlStore, open_another: OpenAnother, clock: ManualClock
    ) -> None:
        """Whoever loses decides again on what is there then."""
        run_id = await ask_one(store, clock)
        other = await open_another()
        yes, no = stamps(clock, voted("apr_1", by=ALICE), decided("apr_1", "deny"))
        outcomes = await asyncio.gather(
            store.journal.intend(run_id, [yes], expected_seq=3),
            other.journal.intend(run_id, [no], expected_seq=3),
            return_exceptions=True,
        )
        assert sum(isinstance(one, SeqConflict) for one in outcomes) == 1
        if isinstance(outcomes[0], SeqConflict):
            with pytest.raises(SeqConflict):
                await store.journal.intend(run_id, [yes], expected_seq=4)
        else:
            await other.journal.intend(run_id, [no], expected_seq=4)
        assert await status_of(store, "apr_1") == "denied"
        state = fold(await store.journal.read(run_id))
        assert state.approvals[ApprovalId("apr_1")].status == "denied"


async def test_an_approval_of_another_run_is_not_decided(
    store: SqlStore, clock: ManualClock
) -> None:
    await ask_one(store, clock)
    other = await begin(store.journal, clock, "run_2")
    with pytest.raises(SeqConflict):
        await store.journal.intend(other, stamps(clock, decided("apr_1")), expected_seq=1)
    assert await status_of(store, "apr_1") == "pending"


async def test_the_end_of_a_run_cancels_calls_and_questions_and_keeps_reviews(
    store: SqlStore, clock: ManualClock
) -> None:
    run_id = await ask_one(store, clock)
    events = stamps(
        clock,
        replied("call_2"),
        requested("apr_2", "call_2", kind="review"),
        replied("call_3"),
        requested("apr_3", "call_3", kind="question"),
        RunFinished(answer="done"),
    )
    await store.journal.intend(run_id, events, expected_seq=3)
    assert await status_of(store, "apr_1") == "cancelled"
    assert await status_of(store, "apr_2") == "pending"
    assert await status_of(store, "apr_3") == "cancelled"
    for late in (decided("apr_1"), decided("apr_3", "answer")):
        with pytest.raises(SeqConflict):
            await store.journal.intend(run_id, stamps(clock, late), expected_seq=8)


async def test_approvals_are_listed_oldest_first_and_pending_alone(
    store: SqlStore, clock: ManualClock
) -> None:
    run_id = await begin(store.journal, clock)
    await store.journal.intend(run_id, stamps(clock, replied("c_1", "c_2", "c_3")), expected_seq=1)
    for n in (1, 2, 3):
        clock.move(MOMENT)
        asked = stamps(clock, requested(f"apr_{4 - n}", f"c_{n}"))
        await store.journal.intend(run_id, asked, expected_seq=1 + n)
    await store.journal.intend(run_id, stamps(clock, decided("apr_2")), expected_seq=5)
    pending = await store.lists.approvals(limit=10)
    everything = await store.lists.approvals(limit=10, pending_only=False)
    assert [row.approval_id for row in pending] == ["apr_3", "apr_1"]
    assert [row.approval_id for row in everything] == ["apr_3", "apr_2", "apr_1"]
    assert len(await store.lists.approvals(limit=1)) == 1
    assert await store.lists.count_approvals(at_most=9) == 2
    assert await store.lists.count_approvals(at_most=9, pending_only=False) == 3
    assert await store.lists.count_approvals(at_most=1) == 1
    assert await store.lists.count_approvals(at_most=2, pending_only=False) == 2


async def test_approvals_are_listed_newest_first_for_who_wants_that(
    store: SqlStore, clock: ManualClock
) -> None:
    run_id = await begin(store.journal, clock)
    await store.journal.intend(run_id, stamps(clock, replied("c_1", "c_2", "c_3")), expected_seq=1)
    for n in (1, 2, 3):
        clock.move(MOMENT)
        asked = stamps(clock, requested(f"apr_{4 - n}", f"c_{n}"))
        await store.journal.intend(run_id, asked, expected_seq=1 + n)
    await store.journal.intend(run_id, stamps(clock, decided("apr_2")), expected_seq=5)
    lists = store.lists
    pending = await lists.approvals(limit=9, newest_first=True)
    newest = await lists.approvals(limit=2, pending_only=False, newest_first=True)
    assert [row.approval_id for row in pending] == ["apr_1", "apr_3"]
    assert [row.approval_id for row in newest] == ["apr_1", "apr_2"]


async def test_an_operation_leads_to_its_run(store: SqlStore, clock: ManualClock) -> None:
    await ask_one(store, clock)
    assert await store.lists.run_of_operation(OperationId("op_call_1")) == "run_1"
    assert await store.lists.run_of_operation(OperationId("op_none")) is None


async def test_nothing_is_known_of_an_approval_that_was_never_requested(store: SqlStore) -> None:
    assert await store.lists.approval(ApprovalId("apr_0")) is None
