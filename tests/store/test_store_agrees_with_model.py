"""Two handles on one database against a model of a few dictionaries, through any story."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextlib import ExitStack
from datetime import timedelta
from typing import Any, ClassVar, TypeVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    initialize,
    invariant,
    multiple,
    precondition,
    rule,
    run_state_machine_as_test,
)

from agent.errors import LeaseLost, SeqConflict
from agent.ports import Lease
from agent.rules.decisions import Decider
from agent.rules.events import Event, RunFailed, RunFinished, RunReopened
from agent.rules.fold import fold
from agent.rules.ids import OperationId, Principal, RunId
from agent.rules.recorded import Stamped
from store import SqlStore, open_store
from tests.databases import NewDatabase
from tests.examples import examples
from tests.store.clock import ManualClock
from tests.store.modelled import TERM, Modelled
from tests.store.story import BOB, begin, decided, replied, requested, returned, stamps, voted

T = TypeVar("T")
HANDLES = st.integers(0, 1)


class StoreAgreesWithModel(RuleBasedStateMachine):
    runs = Bundle("runs")
    leases = Bundle("leases")

    #: Where the story takes place.
    databases: ClassVar[list[NewDatabase]]

    def __init__(self) -> None:
        super().__init__()
        self.resources = ExitStack()
        self.url = self.resources.enter_context(self.databases[0]())
        self.clock = ManualClock()
        self.runner = asyncio.Runner()
        self.stores = [self.do(open_store(self.url, clock=self.clock)) for _ in range(2)]
        self.model: dict[RunId, Modelled] = {}
        self.names = 0
        self.seen_fences: dict[RunId, int] = {}

    @initialize(target=runs)
    def begin_some(self) -> Any:
        return multiple(*(self.begin(at) for at in range(2)))

    @initialize(target=leases)
    def hold_some(self) -> Any:
        self.begin(0)
        return multiple(*self.claim(0, 100))

    def teardown(self) -> None:
        self.claim(0, 100)
        for store in self.stores:
            self.do(store.close())
        self.runner.close()
        self.resources.close()

    def do(self, work: Coroutine[Any, Any, T]) -> T:
        return self.runner.run(work)

    def new_name(self, prefix: str) -> str:
        self.names += 1
        return f"{prefix}_{self.names:03}"

    def stamps(self, *events: Event) -> list[Stamped]:
        return list(stamps(self.clock, *events))

    @rule(target=runs, at=HANDLES)
    def start(self, at: int) -> RunId:
        return self.begin(at)

    def begin(self, at: int) -> RunId:
        name = self.new_name("run")
        run_id = self.do(begin(self.stores[at].journal, self.clock, name, place="C1:1"))
        self.model[run_id] = Modelled(wake_at=self.clock.now())
        return run_id

    @rule(target=leases, at=HANDLES, limit=st.sampled_from([1, 2, 100]))
    def claim_some(self, at: int, limit: int) -> Any:
        return multiple(*self.claim(at, limit))

    def claim(self, at: int, limit: int) -> list[Lease]:
        """What is due, all of it and nothing else, the oldest first."""
        now = self.clock.now()
        due = [id for id, run in self.model.items() if run.is_due(now)]
        due.sort(key=lambda id: (self.model[id].wake_at, id))
        claimed = self.do(self.stores[at].run_leases.claim(f"p{at}", TERM, limit))
        assert {lease.run_id for lease in claimed} == set(due[:limit])
        for lease in claimed:
            self.model[lease.run_id].claim(lease, now)
        return claimed

    @rule(target=leases, at=HANDLES, run_id=runs)
    def claim_one(self, at: int, run_id: RunId) -> Any:
        now, run = self.clock.now(), self.model[run_id]
        lease = self.do(
            self.stores[at].run_leases.claim_one(run_id, f"p{at}", TERM, seen_seq=run.seq)
        )
        assert (lease is None) == (run.lease_until is not None and run.lease_until > now)
        if lease is None:
            return multiple()
        run.claim(lease, now)
        return lease

    @rule(seconds=st.sampled_from([1, 29, 30, 31]))
    def time_passes(self, seconds: int) -> None:
        self.clock.move(timedelta(seconds=seconds))

    @rule(at=HANDLES, held=st.lists(leases, max_size=3))
    def renew(self, at: int, held: list[Lease]) -> None:
        mine = [lease for lease in held if lease.holder == f"p{at}"]
        kept = {lease.run_id for lease in mine if self.holds(lease)}
        renewed = self.do(self.stores[at].run_leases.renew(f"p{at}", mine, TERM))
        assert {lease.run_id for lease in renewed.extended} == kept
        for run_id in kept:
            run = self.model[run_id]
            run.wake_at = run.lease_until = self.clock.now() + TERM

    def holds(self, lease: Lease) -> bool:
        run = self.model[lease.run_id]
        return run.fence == lease.fence and run.holder == lease.holder

    @rule(at=HANDLES, lease=leases, behind=st.integers(0, 1))
    def intend(self, at: int, lease: Lease, behind: int) -> None:
        """Ask for an approval, as the holder, perhaps a stale one, perhaps of an older state."""
        run = self.model[lease.run_id]
        approval_id, call_id = self.new_name("apr"), self.new_name("call")
        expires_at = self.clock.now() + TERM
        events = self.stamps(
            replied(call_id), requested(approval_id, call_id, expires_at=expires_at)
        )
        work = self.stores[at].journal.intend(
            lease.run_id, events, expected_seq=run.seq - behind, fence=lease.fence
        )
        if run.fence != lease.fence:
            with pytest.raises(LeaseLost):
                self.do(work)
        elif behind or run.ending:
            with pytest.raises(SeqConflict):
                self.do(work)
        else:
            self.do(work)
            run.append(self.clock.now(), 2)
            run.pending[approval_id] = expires_at
            run.asked[approval_id] = call_id

    @rule(at=HANDLES, lease=leases, times=st.integers(1, 2), dies=st.booleans())
    def record(self, at: int, lease: Lease, times: int, dies: bool) -> None:
        """What happened is recorded, perhaps again because an answer was lost, perhaps because whoever
        waited for it died."""
        run = self.model[lease.run_id]
        call_id = self.new_name("call")
        events = self.stamps(replied(call_id), returned(call_id))
        if dies:
            self.do(self.die_recording(at, lease, events))
        for time in range(times):
            added = 2 if time == 0 else 0
            work = self.stores[at].journal.record(lease.run_id, events, fence=lease.fence)
            if run.fence != lease.fence:
                with pytest.raises(LeaseLost):
                    self.do(work)
            elif run.ending:
                with pytest.raises(SeqConflict):
                    self.do(work)
            else:
                assert self.do(work)[-1].seq == run.seq + added
                run.append(self.clock.now(), added)

    async def die_recording(self, at: int, lease: Lease, events: list[Stamped]) -> None:
        """Nobody knows whether it was written. Another process takes this one's place."""
        store = self.stores[at]
        work = store.journal.record(lease.run_id, events, fence=lease.fence)
        recording = asyncio.create_task(work)
        await asyncio.sleep(0)
        recording.cancel()
        await asyncio.wait([recording])
        await store.close()
        self.stores[at] = await open_store(self.url, clock=self.clock)

    @rule(at=HANDLES, run_id=runs, ending=st.sampled_from(["finished", "failed", "failed"]))
    def end(self, at: int, run_id: RunId, ending: str) -> None:
        run = self.model[run_id]
        is_failed = ending == "failed"
        events = self.stamps(RunFailed(error="no") if is_failed else RunFinished(answer="done"))
        work = self.stores[at].journal.intend(run_id, events, expected_seq=run.seq)
        if run.ending:
            with pytest.raises(SeqConflict):
                self.do(work)
        else:
            self.do(work)
            run.append(self.clock.now())
            run.ending = ending
            run.pending.clear()

    @rule(at=HANDLES, run_id=runs)
    def take_on_again(self, at: int, run_id: RunId) -> None:
        run = self.model[run_id]
        events = self.stamps(RunReopened(by=Principal("cli:op")))
        work = self.stores[at].journal.intend(run_id, events, expected_seq=run.seq)
        if run.ending == "failed":
            self.do(work)
            run.append(self.clock.now())
            run.ending = None
        else:
            with pytest.raises(SeqConflict):
                self.do(work)

    @precondition(lambda self: any(run.pending for run in self.model.values()))
    @rule(at=HANDLES, data=st.data())
    def vote(self, at: int, data: st.DataObject) -> None:
        run_id, approval_id = self.draw_pending(data)
        run = self.model[run_id]
        events = self.stamps(voted(approval_id, by=Principal(self.new_name("slack:T:U"))))
        work = self.stores[at].journal.intend(run_id, events, expected_seq=run.seq)
        if run.pending[approval_id] > self.clock.now():
            self.do(work)
            run.append(self.clock.now())
        else:
            with pytest.raises(SeqConflict):
                self.do(work)

    @precondition(lambda self: any(run.pending for run in self.model.values()))
    @rule(at=HANDLES, data=st.data())
    def hear_of_what_is_asked(self, at: int, data: st.DataObject) -> None:
        """The call has its result, whatever people were still being asked about it."""
        run_id, approval_id = self.draw_pending(data)
        run = self.model[run_id]
        events = self.stamps(returned(run.asked[approval_id]))
        self.do(self.stores[at].journal.intend(run_id, events, expected_seq=run.seq))
        run.append(self.clock.now())
        del run.pending[approval_id]

    def draw_pending(self, data: st.DataObject) -> tuple[RunId, str]:
        open_ones = [(id, apr) for id, run in self.model.items() for apr in run.pending]
        return data.draw(st.sampled_from(open_ones))

    @precondition(lambda self: any(run.pending for run in self.model.values()))
    @rule(at=HANDLES, data=st.data(), action=st.sampled_from(["approve", "deny"]))
    def decide(self, at: int, data: st.DataObject, action: Any) -> None:
        run_id, approval_id = self.draw_pending(data)
        run = self.model[run_id]
        for is_first in (True, False):
            events = self.stamps(decided(approval_id, action))
            work = self.stores[at].journal.intend(run_id, events, expected_seq=run.seq)
            if is_first and run.pending[approval_id] > self.clock.now():
                self.do(work)
                run.append(self.clock.now())
                del run.pending[approval_id]
            else:
                with pytest.raises(SeqConflict):
                    self.do(work)

    @rule(
        at=HANDLES,
        lease=leases,
        behind=st.sampled_from([0, 0, 1]),
        sleep=st.sampled_from([None, TERM]),
    )
    def suspend(self, at: int, lease: Lease, behind: int, sleep: timedelta | None) -> None:
        run = self.model[lease.run_id]
        until = None if sleep is None else self.clock.now() + sleep
        work = self.stores[at].run_leases.suspend(lease, seen_seq=run.seq - behind, until=until)
        if run.fence != lease.fence:
            with pytest.raises(LeaseLost):
                self.do(work)
        else:
            assert self.do(work) == (not behind)
            if not behind:
                run.let_go(until)

    @rule(
        at=HANDLES,
        lease=leases,
        behind=st.sampled_from([None, 0, 1]),
        is_fault=st.booleans(),
    )
    def defer(self, at: int, lease: Lease, behind: int | None, is_fault: bool) -> None:
        run, now = self.model[lease.run_id], self.clock.now()
        until, seen_seq = now + TERM, None if behind is None else run.seq - behind
        work = self.stores[at].run_leases.defer(
            lease, until=until, seen_seq=seen_seq, is_fault=is_fault
        )
        self.do(work)
        if self.holds(lease):
            run.put_off(now, until, seen_seq=seen_seq, is_fault=is_fault)

    @rule(at=HANDLES)
    def reopen(self, at: int) -> None:
        self.do(self.stores[at].close())
        self.stores[at] = self.do(open_store(self.url, clock=self.clock))

    def ask(self, statement: str) -> list[Any]:
        reader = self.stores[0].lists._reader
        return [
            tuple(row) for row in self.do(reader.run(lambda c: c.exec_driver_sql(statement).all()))
        ]

    @invariant()
    def the_heads_are_as_modelled(self) -> None:
        rows = self.ask(
            "SELECT r.run_id, r.head_seq, r.fence, r.holder, r.claims, r.wake_at,"
            " r.lease_expires_at, t.wanted_seq FROM runs r JOIN threads t ON t.run_id = r.run_id"
        )
        assert {row[0]: row[1:] for row in rows} == {id: run.row for id, run in self.model.items()}
        for run_id, _, fence, *_ in rows:
            assert fence >= self.seen_fences.get(run_id, 0)
            self.seen_fences[run_id] = fence

    @invariant()
    def what_waits_for_people_is_as_modelled(self) -> None:
        waiting = {apr for run in self.model.values() for apr in run.pending}
        rows = self.do(self.stores[1].lists.waiting_for(Decider(BOB, "UBOB"), limit=1_000))
        assert {row.approval_id for row in rows} == waiting

    @invariant()
    def the_facts_are_numbered_without_a_gap(self) -> None:
        rows = self.ask("SELECT run_id, seq FROM journal ORDER BY run_id, seq")
        assert rows == [
            (id, seq) for id, run in sorted(self.model.items()) for seq in range(1, run.seq + 1)
        ]

    @invariant()
    def the_projections_equal_the_fold(self) -> None:
        self.do(self.compare_with_fold(self.stores[0]))

    async def compare_with_fold(self, store: SqlStore) -> None:
        folded = {id: fold(await store.journal.read(id)) for id in self.model}
        approvals = await store.lists.approvals(limit=1000, pending_only=False)
        assert {row.approval_id: (row.run_id, row.status) for row in approvals} == {
            approval.id: (run_id, approval.status)
            for run_id, state in folded.items()
            for approval in state.approvals.values()
        }
        for run_id, state in folded.items():
            row = await store.lists.run(run_id)
            assert row is not None
            assert (row.head_seq, row.status) == (state.seq, state.ending or "active")
            assert (await store.verifier.check(run_id)).broken is None
            for call in list(state.calls.values())[-1:]:
                found = await store.lists.run_of_operation(OperationId(call.operation_id))
                assert found == run_id


# What fails is made small before it is shown, which takes up to five minutes.
@pytest.mark.timeout(400)
def test_the_store_agrees_with_the_model(kind: str, new_database: NewDatabase) -> None:
    class OnThisKind(StoreAgreesWithModel):
        databases: ClassVar[list[NewDatabase]] = [new_database]

    run_state_machine_as_test(
        OnThisKind,
        settings=settings(
            max_examples=examples(14 if kind == "sqlite" else 5),
            stateful_step_count=30,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
