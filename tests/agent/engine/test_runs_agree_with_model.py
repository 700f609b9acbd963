"""Two engines and several people on one store, against a model of what may happen: what people were told that
they had done, and what the world outside has seen."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Coroutine, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from agent import Approve, Budget, Decider, Deny, GrantWish, Principal, Settle, Steer
from agent.errors import (
    DecisionRefused,
    KeyReused,
    NoBoundary,
    NotFailed,
    RunEnded,
    SessionBusy,
)
from agent.ports import ModelUnavailable
from agent.rules.decisions import Decision
from agent.rules.ids import ApprovalId, RunId
from agent.rules.parts import Escalation, Granting, OnExpiry, Patience
from agent.rules.rule import People
from agent.rules.state import Approval, ApprovalStatus, RunState
from tests.agent.engine.crashing import Crash
from tests.agent.engine.patient import PatientPolicy
from tests.agent.engine.world import EXPIRES, KINDS, OWNER, TERM, Deed, Handle, World, begin
from tests.examples import IS_LONG, examples

T = TypeVar("T")
CAROL = Principal("slack:T0PILOT:U0CAROL")
#: May decide once an escalation has been reached.
LATE = Decider(Principal("slack:T0PILOT:U0LATE"), user="U0LATE")
GATED = ("put", "wire")

#: What may happen at a point of an engine's way, by the name of the machine's method.
DEEDS = st.sampled_from(
    ["says", "holds", "lifts", "stops", "approves", "denies", "dies", "dies_after", "is_replaced"]
)
#: When they do: the first engine meets them on its way, whatever else is done to the run.
FATES = st.dictionaries(st.integers(1, 14), DEEDS, min_size=1, max_size=4)
#: How the model fails: for a moment, or for good.
TROUBLES = st.sampled_from([[ModelUnavailable("away")], [ValueError("no such model")] * 2])
WAITS = st.sampled_from([timedelta(seconds=20), timedelta(minutes=26), EXPIRES])


@dataclass
class Modelled:
    """What people were told that they had done."""

    said: list[str] = field(default_factory=list)
    stopped: set[RunId] = field(default_factory=set)
    decided: dict[ApprovalId, ApprovalStatus] = field(default_factory=dict)
    had_trouble: bool = False


class Runs(RuleBasedStateMachine):
    """One session and its forks; everything that can be done to it, by anybody, at any point."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.folder = tempfile.TemporaryDirectory()
        self.model = Modelled()
        self.engines: list[Handle] = []

    def do(self, work: Coroutine[Any, Any, T]) -> T:
        return self.loop.run_until_complete(work)

    @initialize(
        wanted=st.lists(st.sampled_from(KINDS), min_size=1, max_size=3, unique=True).map(tuple),
        on_expiry=st.sampled_from(["wait", "deny", "stop", "escalate"]),
        escalate=st.sampled_from([(), (Escalation(after=EXPIRES / 2, users=("U0LATE",)),)]),
        budget=st.sampled_from([None, None, Budget(model_calls=2), Budget(tokens=25)]),
        fate=FATES,
    )
    def a_run_begins(
        self,
        wanted: tuple[str, ...],
        on_expiry: OnExpiry,
        escalate: tuple[Escalation, ...],
        budget: Budget | None,
        fate: dict[int, str],
    ) -> None:
        patience = Patience(
            expires=EXPIRES,
            on_expiry=on_expiry,
            remind=timedelta(minutes=25),
            escalate=escalate,
        )
        granting = Granting(scopes=("run", "thread"), longest=4 * EXPIRES)
        policy = PatientPolicy(
            owners=People(users=("U0BOB",)), patience=patience, granting=granting
        )
        self.world = World(Path(self.folder.name), wanted, policy, budget)
        self.engines = [self.do(self.world.open()) for _ in range(2)]
        self.people = self.do(self.world.open())
        self.run_id = self.do(begin(self.people))
        for at, deed in fate.items():
            self._arm(0, at, deed)

    # What an engine does, and what happens on its way.

    @rule(which=st.integers(0, 1))
    def an_engine_works(self, which: int) -> None:
        self.do(self._work(which))

    @rule(which=st.integers(0, 1), at=st.integers(1, 6), deed=DEEDS)
    def something_happens_on_its_way(self, which: int, at: int, deed: str) -> None:
        self._arm(which, at, deed)
        self.do(self._work(which))

    def _arm(self, which: int, at: int, deed: str) -> None:
        points = self.engines[which].points
        special: dict[str, Deed] = {
            "dies": points.die,
            "dies_after": points.die_after,
            "is_replaced": lambda: self._replace(which),
        }
        points.deeds[points.count + at] = special.get(deed) or getattr(self, f"_{deed}")

    @rule(which=st.integers(0, 1), by=WAITS)
    def time_passes(self, which: int, by: timedelta) -> None:
        self.world.clock.advance(by)
        self.do(self._work(which))

    # What people do while nobody works it.

    @rule()
    def somebody_says_something(self) -> None:
        self.do(self._says())

    @rule()
    def somebody_holds_it(self) -> None:
        self.do(self._holds())

    @rule()
    def somebody_lifts_the_hold(self) -> None:
        self.do(self._lifts())

    @rule()
    def somebody_stops_it(self) -> None:
        self.do(self._stops())

    @rule(decision=st.sampled_from([Approve(), Approve(), Deny("no"), Steer(guidance="gently")]))
    def somebody_decides(self, decision: Decision) -> None:
        self.do(self._decides(decision, OWNER))

    @rule(wish=st.sampled_from([GrantWish("run"), GrantWish("thread", EXPIRES)]))
    def somebody_allows_others_like_it(self, wish: GrantWish) -> None:
        self.do(self._decides(Approve(grant=wish), OWNER))

    @rule()
    def somebody_takes_that_back(self) -> None:
        self.do(self._revokes())

    @rule()
    def somebody_who_may_only_later_approves(self) -> None:
        self.do(self._decides(Approve(), LATE))

    @rule()
    def somebody_says_what_became_of_it(self) -> None:
        self.do(self._settles())

    @rule()
    def somebody_asks_again(self) -> None:
        self.do(self._asks_again())

    @rule(at=st.integers(1, 20))
    def somebody_forks_it(self, at: int) -> None:
        self.do(self._forks(at))

    @rule(troubles=TROUBLES)
    def the_model_will_fail(self, troubles: list[Exception]) -> None:
        self.world.troubles += troubles
        self.model.had_trouble = True

    @rule()
    def somebody_has_it_tried_again(self) -> None:
        self.do(self._retries())

    @rule(which=st.integers(0, 9))
    def a_message_comes_again(self, which: int) -> None:
        self.do(self._says_again(which))

    @rule(which=st.integers(0, 9))
    def a_message_comes_again_with_other_words(self, which: int) -> None:
        self.do(self._says_otherwise(which))

    @invariant()
    def every_run_keeps_the_laws(self) -> None:
        if self.engines:
            self.do(self._check())

    def teardown(self) -> None:
        try:
            if self.engines:
                self.do(self._end())
        finally:
            for handle in (*self.engines, *([self.people] if self.engines else [])):
                self.do(handle.store.close())
            self.loop.close()
            self.folder.cleanup()

    async def _work(self, which: int) -> None:
        try:
            await self.engines[which].work()
        except Crash:
            await self._renew(which)

    async def _replace(self, which: int) -> None:
        """Whoever works it is frozen for so long that the other goes on without it."""
        self.world.clock.advance(TERM * 2)
        await self._work(1 - which)

    async def _newest(self) -> RunState:
        return await self.people.runtime.state(self.run_id)

    async def _says(self) -> None:
        words = f"word {len(self.model.said)}"
        with suppress(RunEnded):
            state = await self.people.runtime.steer(self.run_id, words, CAROL, ref=words)
            self.run_id = state.run_id
            self.model.said.append(words)

    async def _says_again(self, which: int) -> None:
        for words in self.model.said[which : which + 1]:
            state = await self.people.runtime.steer(self.run_id, words, CAROL, ref=words)
            told = [state.prompt, *(said.text for said in state.said)]
            assert told.count(words) == 1, "it is one message, and not lost"

    async def _says_otherwise(self, which: int) -> None:
        for words in self.model.said[which : which + 1]:
            with pytest.raises(KeyReused):
                await self.people.runtime.steer(self.run_id, "other words", CAROL, ref=words)

    async def _retries(self) -> None:
        with suppress(NotFailed, SessionBusy):
            await self.people.runtime.retry(self.run_id, CAROL)

    async def _holds(self) -> None:
        with suppress(RunEnded):
            await self.people.runtime.hold(self.run_id, CAROL)

    async def _lifts(self) -> None:
        if (await self._newest()).held:
            await self.people.runtime._intervening.lift(self.run_id, CAROL)

    async def _stops(self) -> None:
        with suppress(RunEnded):
            await self.people.runtime.stop(self.run_id, CAROL)
            self.model.stopped.add(self.run_id)

    async def _approves(self) -> None:
        await self._decides(Approve(), OWNER)

    async def _denies(self) -> None:
        await self._decides(Deny("no"), OWNER)

    async def _decides(self, decision: Decision, who: Decider) -> None:
        for approval in (await self._newest()).open_approvals[:1]:
            with suppress(DecisionRefused):
                state = await self.people.runtime.decide(approval.id, decision, who)
                self._take_note(state.approvals[approval.id], state)

    async def _revokes(self) -> None:
        for grant in await self.people.runtime.grants():
            await self.people.runtime.revoke(grant.id, OWNER)

    def _take_note(self, approval: Approval, state: RunState) -> None:
        assert approval.id not in self.model.decided, "one decision wins"
        self.model.decided[approval.id] = approval.status
        if approval.kind == "budget" and approval.status == "denied":
            self.model.stopped.add(state.run_id)

    async def _settles(self) -> None:
        state = await self._newest()
        for approval in state.open_approvals:
            if approval.kind == "review":
                truth = Settle(self.world.truth(state, approval.id))
                await self.people.runtime.decide(approval.id, truth, OWNER)

    async def _asks_again(self) -> None:
        expired = [a for a in (await self._newest()).approvals.values() if a.status == "expired"]
        for approval in expired[-1:]:
            with suppress(DecisionRefused, RunEnded):
                await self.people.runtime.ask_again(approval.id, OWNER)

    async def _forks(self, at: int) -> None:
        with suppress(NoBoundary):
            await self.people.runtime.fork(self.run_id, at, CAROL)

    async def _check(self) -> None:
        for state in await self.people.runtime.runs():
            await self.world.check(self.people, state.run_id)

    async def _end(self) -> None:
        """Everybody does what is left to do: no run is stuck, and everything is as people were told."""
        self.world.wait()
        for state in await self.people.runtime.runs():
            while not await self._comes_to_an_end(state.run_id):
                self.world.wait()
        runs = await self.people.runtime.runs()
        for state in runs:
            self._agrees(state)
        self._keeps_each_message([run for run in runs if run.taken_from is None])

    def _keeps_each_message(self, runs: Sequence[RunState]) -> None:
        """Of a session, newest first: what one run could not hear any more, the next one was told."""
        for run in runs:
            told = [said.text for said in run.said]
            assert len(set(told)) == len(told), "no run is told the same twice"
        begun = [run.prompt for run in runs if run.prompt.startswith("word")]
        told = [said.text for run in runs for said in run.said]
        assert set(told + begun) == set(self.model.said), "each message is somewhere"
        assert not set(told) & set(begun), "what began a run is not said to one as well"
        for later, before in pairwise(runs):
            known = [said.text for said in later.said]
            known += [text for turn in later.past.turns for text in turn.said] if later.past else []
            for unheard in before.unseen:
                assert unheard.text in known, "what nobody heard is handed on"

    async def _comes_to_an_end(self, run_id: RunId) -> bool:
        """False if the engine died over it."""
        try:
            await self.world.bring_to_an_end(self.engines[0], run_id, self.people, self._take_note)
        except Crash:
            await self._renew(0)
            return False
        return True

    async def _renew(self, which: int) -> None:
        await self.engines[which].store.close()
        self.engines[which] = await self.world.open()

    def _agrees(self, state: RunState) -> None:
        """The run has become what people were told that they made of it."""
        if state.run_id in self.model.stopped:
            assert state.ending == "cancelled"
        elif state.ending == "cancelled":
            assert state.stop is not None
            assert state.stop.by in ("policy:silence", "policy:budget")
        elif state.ending == "failed":
            assert self.model.had_trouble
        else:
            assert state.ending == "finished"
            assert not state.unseen
        for approval in state.approvals.values():
            if approval.id in self.model.decided:
                assert approval.status == self.model.decided[approval.id]
            elif approval.kind != "review":
                assert approval.decided is None, "nobody was told of this decision"
        yeses = {
            approval.requested.call_id
            for approval in state.approvals.values()
            if self.model.decided.get(approval.id) == "approved"
        }
        for call in state.calls.values():
            has_run = any(one.operation_id == call.operation_id for one in self.world.outside.ran)
            is_ours = call.attempts > 0 and state.taken_from is None
            if call.tool in GATED and has_run and is_ours:
                assert call.id in yeses, "no effect without a yes that somebody gave"


def test_any_story_of_runs_keeps_what_was_promised() -> None:
    run_state_machine_as_test(
        Runs,
        settings=settings(
            max_examples=examples(20),
            # What nobody has drawn yet is looked for where there is time: a change is not refused for it.
            derandomize=not IS_LONG,
            stateful_step_count=10,
            deadline=None,
            suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
        ),
    )
