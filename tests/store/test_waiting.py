"""What waits for a person, and what was decided lately of theirs."""

from __future__ import annotations

from datetime import timedelta

from agent.rules.decisions import Decider
from agent.rules.events import (
    ApprovalRequested,
    ApprovalVoted,
    Event,
    RunFailed,
    RunFinished,
    RunReopened,
)
from agent.rules.fold import fold
from agent.rules.ids import ApprovalId, Principal, RunId
from agent.rules.interventions import ApprovalAskedAgain, ApprovalEscalated, ApprovalExpired
from agent.rules.parts import Approvers, Escalation, Patience
from store import SqlStore
from tests.store.clock import ManualClock
from tests.store.database import ask
from tests.store.story import ALICE, BOB, begin, decided, replied, requested, returned, stamps

CAROL, DAVE = Principal("slack:T1:UCAROL"), Principal("slack:T1:UDAVE")
HOUR = timedelta(hours=1)
RUN = RunId("run_1")


def person(principal: Principal, *groups: str) -> Decider:
    return Decider(principal, principal.rpartition(":")[2], frozenset(groups))


class Told:
    """A store, and what is told to it of its runs."""

    def __init__(self, store: SqlStore, clock: ManualClock) -> None:
        self.store, self.clock = store, clock
        self._seqs: dict[RunId, int] = {}

    async def asks(self, number: int, **also: object) -> RunId:
        """A run of Alice's that asks ``apr_NUMBER``, a second later than the one before."""
        self.clock.move(timedelta(seconds=1))
        run_id = await begin(self.store.journal, self.clock, f"run_{number}")
        self._seqs[run_id] = 1
        await self.hears(run_id, replied(f"call_{number}"), self.asked(number, **also))
        return run_id

    def asked(self, number: int, **also: object) -> ApprovalRequested:
        asked = requested(f"apr_{number}", f"call_{number}")
        return asked.model_copy(update=also)

    async def hears(self, run_id: RunId, *events: Event) -> None:
        seq = self._seqs[run_id]
        await self.store.journal.intend(run_id, stamps(self.clock, *events), expected_seq=seq)
        self._seqs[run_id] = seq + len(events)

    async def waits_for(self, principal: Principal, *groups: str, limit: int = 9) -> list[str]:
        who = person(principal, *groups)
        return [row.approval_id for row in await self.store.lists.waiting_for(who, limit=limit)]

    async def lately(self, principal: Principal, limit: int = 9) -> list[str]:
        rows = await self.store.lists.decided_lately(principal, limit=limit)
        return [row.approval_id for row in rows]

    async def is_whole(self) -> bool:
        """Do the rows say what the journals do?"""
        states = [fold(await self.store.journal.read(run_id)) for run_id in self._seqs]
        return not any([await self.store.projections.differences(state) for state in states])


async def test_a_question_waits_for_those_who_may_decide_it_oldest_first(
    store: SqlStore, clock: ManualClock
) -> None:
    told = Told(store, clock)
    both = Approvers(users=("UBOB",), groups=("S1",), one_from_each=("S2",))
    await told.asks(1, approvers=Approvers(groups=("S1",)))
    await told.asks(2, approvers=both)
    await told.asks(3, approvers=Approvers(users=("UBOB", "UALICE")))
    await told.asks(4, approvers=Approvers(users=("UALICE",), requester=True))
    await told.asks(5, approval_kind="question", approvers=Approvers(users=("UCAROL",)))
    await told.asks(6, approvers=Approvers())
    assert await told.waits_for(BOB) == ["apr_2", "apr_3"]
    assert await told.waits_for(BOB, "S1") == ["apr_1", "apr_2", "apr_3"]
    assert await told.waits_for(BOB, "S1", limit=2) == ["apr_1", "apr_2"]
    assert await told.waits_for(CAROL, "S2") == ["apr_2", "apr_5"]
    # Whoever asked decides only where the rule lets them; a question is theirs to answer in any case.
    assert await told.waits_for(ALICE, "S1") == ["apr_4", "apr_5"]
    assert await told.waits_for(DAVE) == []
    assert await store.lists.groups_asked(limit=9) == ["S1", "S2"]
    assert await store.lists.groups_asked(limit=1) == ["S1"]
    assert await told.is_whole()


async def test_it_waits_until_it_is_decided_replaced_or_its_call_or_run_has_ended(
    store: SqlStore, clock: ManualClock, url: str
) -> None:
    told = Told(store, clock)
    runs = [await told.asks(number) for number in (1, 2, 3, 4)]
    assert await told.waits_for(BOB) == ["apr_1", "apr_2", "apr_3", "apr_4"]
    await told.hears(runs[0], decided("apr_1"))
    await told.hears(runs[1], requested("apr_9", "call_2", supersedes="apr_2"))
    await told.hears(runs[2], returned("call_3"))
    await told.hears(runs[3], RunFinished(answer="done"))
    assert await told.waits_for(BOB) == ["apr_9"]
    assert await told.is_whole()
    assert ask(url, "SELECT DISTINCT approval_id FROM awaited") == [("apr_9",)]


async def test_whoever_said_yes_is_waited_for_again_only_when_that_counts_no_more(
    store: SqlStore, clock: ManualClock
) -> None:
    told = Told(store, clock)
    run_id = await told.asks(1, approvers=Approvers(users=("UBOB", "UCAROL", "UDAVE"), count=3))
    await told.hears(run_id, ApprovalVoted(approval_id=ApprovalId("apr_1"), by=BOB))
    assert [await told.waits_for(one) for one in (BOB, CAROL)] == [[], ["apr_1"]]
    assert await told.is_whole()
    counted = ApprovalVoted(approval_id=ApprovalId("apr_1"), by=CAROL, not_counted=(BOB,))
    await told.hears(run_id, counted)
    assert [await told.waits_for(one) for one in (BOB, CAROL, DAVE)] == [["apr_1"], [], ["apr_1"]]
    assert await told.is_whole()


async def test_an_escalation_lets_it_wait_for_more_people(
    store: SqlStore, clock: ManualClock
) -> None:
    told = Told(store, clock)
    steps = (
        Escalation(after=HOUR, users=("UCAROL",)),
        Escalation(after=2 * HOUR, groups=("S9",), users=("UBOB",)),
    )
    run_id = await told.asks(1, patience=Patience(escalate=steps))
    seen = []
    for stage in (1, 2):
        seen.append([await told.waits_for(BOB), await told.waits_for(CAROL, "S9")])
        await told.hears(run_id, ApprovalEscalated(approval_id=ApprovalId("apr_1"), stage=stage))
        assert await told.is_whole()
    assert seen == [[["apr_1"], []], [["apr_1"], ["apr_1"]]]
    assert await told.waits_for(DAVE, "S9") == ["apr_1"]


async def test_what_nobody_decided_in_time_waits_for_them_and_for_whoever_asked_until_it_is_asked_again(
    store: SqlStore, clock: ManualClock
) -> None:
    told = Told(store, clock)
    until = clock.now() + HOUR
    few = Approvers(users=("UBOB", "UCAROL"), count=2)
    waits = await told.asks(1, expires_at=until, approvers=few)
    ends = await told.asks(2, expires_at=until)
    await told.hears(waits, ApprovalVoted(approval_id=ApprovalId("apr_1"), by=BOB))
    assert await told.waits_for(ALICE) == []
    clock.move(HOUR)
    await told.hears(waits, ApprovalExpired(approval_id=ApprovalId("apr_1")))
    await told.hears(ends, ApprovalExpired(approval_id=ApprovalId("apr_2"), then="deny"))
    assert [await told.waits_for(one) for one in (ALICE, BOB)] == [["apr_1"], ["apr_1"]]
    await told.hears(waits, ApprovalAskedAgain(approval_id=ApprovalId("apr_1"), by=ALICE))
    assert [await told.waits_for(one) for one in (ALICE, BOB)] == [[], []]


async def test_what_nobody_decided_in_time_waits_again_when_its_run_has_failed_and_is_taken_on(
    store: SqlStore, clock: ManualClock
) -> None:
    told = Told(store, clock)
    until = clock.now() + HOUR
    budget = {"call_id": None, "approval_kind": "budget", "args": {"name": "model_calls"}}
    run_id = await told.asks(1, expires_at=until, **budget)
    clock.move(HOUR)
    await told.hears(run_id, ApprovalExpired(approval_id=ApprovalId("apr_1")))
    await told.hears(run_id, RunFailed(error="no"))
    assert await told.waits_for(BOB) == []
    await told.hears(run_id, RunReopened(by=ALICE))
    assert await told.is_whole()
    assert await store.projections.mend(fold(await store.journal.read(run_id))) == []
    assert [await told.waits_for(one) for one in (ALICE, BOB)] == [["apr_1"], ["apr_1"]]


async def test_decided_lately_is_what_one_decided_and_what_was_decided_of_ones_runs_newest_first(
    store: SqlStore, clock: ManualClock
) -> None:
    told = Told(store, clock)
    runs = {number: await told.asks(number) for number in (1, 2, 3, 4)}
    for number, by in ((2, BOB), (1, CAROL), (3, BOB)):
        clock.move(timedelta(seconds=1))
        await told.hears(runs[number], decided(f"apr_{number}", "deny", by=by))
    assert await told.lately(ALICE) == ["apr_3", "apr_1", "apr_2"]
    assert await told.lately(ALICE, limit=2) == ["apr_3", "apr_1"]
    assert await told.lately(BOB) == ["apr_3", "apr_2"]
    assert await told.lately(DAVE) == []
    assert await told.is_whole()


async def test_what_an_older_build_asked_is_listed_for_everybody_until_it_is_mended(
    store: SqlStore, clock: ManualClock, url: str
) -> None:
    """Its rows don't say for whom it waits; whoever reads the journal knows."""
    told = Told(store, clock)
    run_id = await told.asks(1)
    ask(url, "UPDATE approvals SET requester = NULL")
    ask(url, "DELETE FROM awaited")
    assert await told.waits_for(DAVE) == ["apr_1"]
    assert run_id in [one async for one in store.projections.suspects()]
    await store.projections.mend(fold(await store.journal.read(run_id)))
    assert [await told.waits_for(one) for one in (BOB, DAVE)] == [["apr_1"], []]


async def test_what_an_older_build_decided_waits_for_nobody(
    store: SqlStore, clock: ManualClock, url: str
) -> None:
    """It leaves the rows by which it was found."""
    told = Told(store, clock)
    await told.asks(1)
    ask(url, "UPDATE approvals SET status = 'approved'")
    assert await told.waits_for(BOB) == []


async def test_of_a_yes_that_an_older_build_heard_nobody_is_told_as_of_a_fault(
    store: SqlStore, clock: ManualClock, url: str
) -> None:
    told = Told(store, clock)
    run_id = await told.asks(1, approvers=Approvers(users=("UBOB", "UCAROL"), count=2))
    await told.hears(run_id, ApprovalVoted(approval_id=ApprovalId("apr_1"), by=BOB))
    ask(url, f"DELETE FROM awaited WHERE kind = 'barred' AND name = '{BOB}'")
    assert await told.is_whole()
    assert await store.projections.mend(fold(await store.journal.read(run_id))) == []
    assert [await told.waits_for(one) for one in (BOB, CAROL)] == [[], ["apr_1"]]
