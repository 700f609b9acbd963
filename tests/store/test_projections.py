"""What is kept beside a journal follows from it: lost or changed by hand, it is made right again."""

from __future__ import annotations

from datetime import timedelta

import pytest

from agent.errors import CorruptJournal, NotFound, SeqConflict
from agent.rules.events import RunFinished
from agent.rules.fold import fold
from agent.rules.ids import OperationId, RunId
from agent.rules.replacing import replace
from agent.rules.state import RunState
from store import SqlStore
from store.repairs import FENCE_OF_A_NEW_ROW
from tests.store.clock import ManualClock
from tests.store.database import ask
from tests.store.story import begin, decided, replied, requested, stamp, stamps, started

TERM = timedelta(seconds=30)
LITERAL = {"literal_binds": True}
RUN = RunId("run_1")


async def ask_people(store: SqlStore, clock: ManualClock, number: int = 1) -> RunState:
    """A run with a thread that waits for an approval, and that nobody holds."""
    run_id = await begin(store.journal, clock, f"run_{number}", place="C1")
    call, approval = f"call_{number}", f"apr_{number}"
    expires_at = clock.now() + timedelta(days=1)
    events = stamps(clock, replied(call), requested(approval, call, expires_at=expires_at))
    await store.journal.intend(run_id, events, expected_seq=1)
    lease = await store.run_leases.claim_one(run_id, "p", TERM, seen_seq=3)
    drawn = await store.thread_leases.claim_one(run_id, "p", TERM, seen_seq=3)
    assert lease is not None
    assert drawn is not None
    assert await store.run_leases.suspend(lease, seen_seq=3, until=expires_at)
    assert await store.thread_leases.suspend(drawn, seen_seq=3, until=None)
    return await state_of(store, run_id)


async def state_of(store: SqlStore, run_id: RunId = RUN) -> RunState:
    return fold(await store.journal.read(run_id))


def everything(url: str) -> list[list[object]]:
    tables = ("runs", "approvals", "awaited", "operations", "threads")
    return [sorted(ask(url, f"SELECT * FROM {table}")) for table in tables]


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        ("DELETE FROM approvals", "approval apr_1: missing"),
        ("UPDATE approvals SET status = 'approved'", "approval apr_1: changed"),
        ("UPDATE approvals SET expires_at = NULL", "approval apr_1: changed"),
        ("UPDATE approvals SET requested_at = 1", "approval apr_1: changed"),
        ("UPDATE approvals SET call_id = 'call_9'", "approval apr_1: changed"),
        ("UPDATE approvals SET kind = 'review'", "approval apr_1: changed"),
        ("UPDATE approvals SET run_id = 'run_2'", "approval apr_1: missing"),
        ("UPDATE approvals SET stage = 1", "approval apr_1: changed"),
        ("UPDATE approvals SET decided_by = 'x', decided_at = 1", "approval apr_1: changed"),
        ("DELETE FROM awaited", "approval apr_1: for whom it waits"),
        ("UPDATE awaited SET name = 'UMALLORY' WHERE kind = 'user'", "approval apr_1: for whom"),
        (
            "INSERT INTO approvals SELECT 'apr_9', run_id, call_id, kind, status, requested_at,"
            " expires_at, requester, stage, decided_by, decided_at FROM approvals",
            "approval apr_9: never requested",
        ),
        ("DELETE FROM operations", "operations that nobody could find: op_call_1"),
        ("UPDATE operations SET run_id = 'run_2'", "operations that nobody could find: op_call_1"),
        ("UPDATE runs SET agent = 'deploys' WHERE run_id = 'run_1'", "its row: "),
        ("UPDATE runs SET requester = 'x' WHERE run_id = 'run_1'", "its row: "),
        ("UPDATE runs SET session = 'x' WHERE run_id = 'run_1'", "its row: "),
        ("UPDATE runs SET started_at = 1 WHERE run_id = 'run_1'", "its row: when it began"),
        ("UPDATE runs SET status = 'finished' WHERE run_id = 'run_1'", "its row: "),
        ("UPDATE runs SET format = 0 WHERE run_id = 'run_1'", "its row: "),
        ("UPDATE runs SET is_held = true WHERE run_id = 'run_1'", "its row: "),
        ("UPDATE runs SET halted_by = 'all' WHERE run_id = 'run_1'", "its row: "),
        ("UPDATE runs SET is_stopping = TRUE WHERE run_id = 'run_1'", "its row: "),
    ],
)
async def test_what_was_changed_by_hand_is_made_what_the_journal_says(
    store: SqlStore, clock: ManualClock, url: str, damage: str, words: str
) -> None:
    await begin(store.journal, clock, "run_2")
    state = await ask_people(store, clock)
    right = everything(url)
    assert await store.projections.mend(state) == []
    ask(url, damage)
    assert everything(url) != right
    (said,) = await store.projections.differences(state)
    assert said.startswith(words)
    assert await store.projections.mend(state) == [said]
    assert everything(url) == right
    assert await store.projections.mend(state) == []


@pytest.mark.parametrize(
    "left_out",
    [
        "UPDATE approvals SET requester = NULL",
        "UPDATE approvals SET decided_by = NULL, decided_at = NULL",
        "INSERT INTO awaited SELECT 'apr_1', 'user', 'UBOB', 0, requested_at FROM approvals",
    ],
    ids=["who asked", "who decided", "that it waits no more"],
)
async def test_what_an_older_build_has_left_out_is_made_whole_and_nobody_is_told_of_a_fault(
    store: SqlStore, clock: ManualClock, url: str, left_out: str
) -> None:
    await ask_people(store, clock)
    await store.journal.intend(RUN, stamps(clock, decided("apr_1")), expected_seq=3)
    state, right = await state_of(store), everything(url)
    ask(url, left_out)
    assert everything(url) != right
    assert await store.projections.differences(state) == []
    assert await store.projections.mend(state) == []
    assert everything(url) == right


async def test_a_whole_run_is_not_written(store: SqlStore, clock: ManualClock, url: str) -> None:
    state = await ask_people(store, clock)
    right = everything(url)
    moves = store.wakeups.moves
    assert await store.projections.mend(state) == []
    assert everything(url) == right
    assert store.wakeups.moves == moves


async def test_a_row_that_says_approved_lets_nobody_decide_and_is_mended(
    store: SqlStore, clock: ManualClock, url: str
) -> None:
    state = await ask_people(store, clock)
    ask(url, "UPDATE approvals SET status = 'approved'")
    with pytest.raises(SeqConflict):
        await store.journal.intend(RUN, stamps(clock, decided("apr_1")), expected_seq=3)
    await store.projections.mend(state)
    await store.journal.intend(RUN, stamps(clock, decided("apr_1")), expected_seq=3)


async def test_a_row_that_says_pending_though_it_was_decided_is_mended(
    store: SqlStore, clock: ManualClock, url: str
) -> None:
    await ask_people(store, clock)
    await store.journal.intend(RUN, stamps(clock, decided("apr_1")), expected_seq=3)
    ask(url, "UPDATE approvals SET status = 'pending'")
    assert await store.projections.mend(await state_of(store)) == ["approval apr_1: changed"]
    assert await store.lists.approvals(limit=9) == []


async def test_nothing_is_mended_by_a_state_that_the_journal_has_left_behind(
    store: SqlStore, clock: ManualClock, url: str
) -> None:
    state = await ask_people(store, clock)
    await store.journal.intend(RUN, stamps(clock, decided("apr_1")), expected_seq=3)
    right = everything(url)
    assert await store.projections.differences(state) == []
    assert await store.projections.mend(state) == []
    assert everything(url) == right
    with pytest.raises(NotFound):
        await store.projections.mend(replace(state, run_id=RunId("run_0")))


class TestARunsRow:
    async def test_whose_session_another_run_has_meanwhile_is_left_and_called_corrupt(
        self, store: SqlStore, clock: ManualClock, url: str
    ) -> None:
        state = await ask_people(store, clock)
        ask(url, "UPDATE runs SET status = 'finished' WHERE run_id = 'run_1'")
        await store.journal.start(RunId("run_2"), stamp(clock, started("s_run_1")))
        with pytest.raises(CorruptJournal, match="run_2 has its session"):
            await store.projections.mend(state)

    @pytest.mark.parametrize("wake_at", ["NULL", "4000000000000000", "9000000000000000000"])
    async def test_that_has_something_to_do_is_due_again(
        self, store: SqlStore, clock: ManualClock, url: str, wake_at: str
    ) -> None:
        await ask_people(store, clock)
        await store.journal.intend(RUN, stamps(clock, decided("apr_1")), expected_seq=3)
        ask(url, f"UPDATE runs SET wake_at = {wake_at}")
        assert await store.run_leases.claim("p", TERM, 9) == []
        assert await store.projections.mend(await state_of(store)) == ["when it is due"]
        assert len(await store.run_leases.claim("p", TERM, 9)) == 1

    async def test_that_is_put_off_for_a_while_or_held_is_left_alone(
        self, store: SqlStore, clock: ManualClock, url: str
    ) -> None:
        await begin(store.journal, clock)
        (lease,) = await store.run_leases.claim("p", timedelta(hours=9), 9)
        state = await state_of(store)
        assert await store.projections.mend(state) == []
        until = clock.now() + timedelta(minutes=1)
        await store.run_leases.defer(lease, until=until)
        assert await store.projections.mend(state) == []

    async def test_of_an_ended_run_is_not_due(self, store: SqlStore, clock: ManualClock) -> None:
        await begin(store.journal, clock)
        (lease,) = await store.run_leases.claim("p", TERM, 9)
        end = stamps(clock, RunFinished(answer="done"))
        await store.journal.intend(RUN, end, expected_seq=1, fence=lease.fence)
        assert await store.run_leases.suspend(lease, seen_seq=2, until=None)
        assert await store.projections.mend(await state_of(store)) == []


class TestAThread:
    async def test_that_was_lost_is_drawn_again_by_whoever_claims_it(
        self, store: SqlStore, clock: ManualClock, url: str
    ) -> None:
        state = await ask_people(store, clock)
        ask(url, "DELETE FROM threads")
        assert await store.projections.mend(state) == ["its thread: missing"]
        assert (await store.threads.known(RUN)).shown_seq == 3
        (lease,) = await store.thread_leases.claim("p", TERM, 9)
        assert lease.fence == FENCE_OF_A_NEW_ROW + 1

    @pytest.mark.parametrize(
        "damage",
        [
            "UPDATE threads SET wanted_seq = 2",
            # Whoever draws would never be done.
            "UPDATE threads SET wanted_seq = 9",
            "UPDATE threads SET shown_seq = 2, wake_at = NULL",
        ],
    )
    async def test_that_is_behind_and_not_due_is_due_again(
        self, store: SqlStore, clock: ManualClock, url: str, damage: str
    ) -> None:
        state = await ask_people(store, clock)
        ask(url, damage)
        assert await store.projections.mend(state) == ["its thread: how far it is behind"]
        assert len(await store.thread_leases.claim("p", TERM, 9)) == 1
        assert await store.projections.mend(state) == []

    async def test_that_is_held_and_behind_is_being_drawn(
        self, store: SqlStore, clock: ManualClock, url: str
    ) -> None:
        state, term = await ask_people(store, clock), timedelta(hours=9)
        ask(url, "UPDATE threads SET shown_seq = 2")
        assert await store.thread_leases.claim_one(RUN, "p", term, seen_seq=3)
        assert await store.projections.mend(state) == []

    async def test_that_is_held_stays_with_its_holder_when_it_is_mended(
        self, store: SqlStore, clock: ManualClock, url: str
    ) -> None:
        state = await ask_people(store, clock)
        lease = await store.thread_leases.claim_one(RUN, "p", TERM, seen_seq=3)
        assert lease is not None
        ask(url, "UPDATE threads SET wanted_seq = 2")
        assert await store.projections.mend(state) == ["its thread: how far it is behind"]
        assert await store.thread_leases.claim("p2", TERM, 9) == []
        assert await store.thread_leases.suspend(lease, seen_seq=3, until=None)

    async def test_that_nobody_wants_is_not_made(
        self, store: SqlStore, clock: ManualClock, url: str
    ) -> None:
        await begin(store.journal, clock)
        assert await store.projections.mend(await state_of(store)) == []
        assert ask(url, "SELECT * FROM threads") == []


async def test_many_calls_are_found_together(store: SqlStore, clock: ManualClock, url: str) -> None:
    await begin(store.journal, clock)
    calls = [f"call_{number}" for number in range(1_200)]
    await store.journal.intend(RUN, stamps(clock, replied(*calls)), expected_seq=1)
    state = await state_of(store)
    assert await store.projections.mend(state) == []
    ask(url, "DELETE FROM operations WHERE operation_id = 'op_call_1100'")
    assert len(await store.projections.mend(state)) == 1
    assert await store.lists.run_of_operation(OperationId("op_call_1100")) == RUN


FAR = 9_000_000_000_000_000
