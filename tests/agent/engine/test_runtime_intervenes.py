"""What people do to a run from outside: pause it, end it, fork it, ask again."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from agent import Approve, Runtime, tool
from agent.engine.new_ids import UuidIds
from agent.errors import (
    ApprovalCancelled,
    NoBoundary,
    NothingToDo,
    RunEnded,
    StillOpen,
)
from agent.ports import ModelReply, ModelRequest, Process
from agent.rules.ids import EventId, Principal, RunId
from agent.rules.interventions import RunResumed, StopRequested
from agent.rules.parts import OnExpiry, Patience
from agent.rules.recorded import Stamped
from agent.rules.state import RunState
from agent.rules.transcript import UserMessage
from agent.runtime import BY_PROGRAM
from tests.agent.engine.bench import ALICE, OPERATOR, calls, says, until
from tests.agent.engine.patient import PatientPolicy
from tests.agent.engine.replicas import begin, replicas

BOB = Principal("slack:T0PILOT:U0BOB")


@tool(approval=True)
def send() -> str:
    """Send."""
    return "sent"


@tool(approval=False, effect="read")
def look() -> str:
    """Look."""
    return "seen"


SENDS = [calls(("send", "{}")), says("done")]


class Listening:
    """Answers at once, with what it was told."""

    name = "listening"

    async def reply(self, request: ModelRequest) -> ModelReply:
        heard = [message.text for message in request.messages if isinstance(message, UserMessage)]
        return says(" / ".join(heard))


async def paused(runtime: Runtime) -> RunState:
    """A run that waits for a person."""
    return await runtime.settle(await begin(runtime))


async def is_held(runtime: Runtime, run_id: RunId) -> bool:
    return (await runtime.state(run_id)).held is not None


class TestHold:
    async def test_lets_nothing_new_begin_until_it_is_resumed(self, url: str) -> None:
        async with replicas(url) as several:
            runtime = await several.runtime([send], SENDS)
            state = await paused(runtime)
            held = await runtime.hold(state.run_id, BOB, "look first")
            assert held.held is not None
            assert (held.held.by, held.held.reason) == (BOB, "look first")
            approval_id = state.open_approvals[0].id
            decided = await runtime.decide(approval_id, Approve(), OPERATOR, wait=True)
            assert decided.open_calls[0].status == "ready", "the yes is kept"
            resumed = await runtime.resume(state.run_id, BOB, wait=True)
            assert resumed is not None
            assert resumed.answer == "done"

    async def test_that_waits_is_through_when_what_runs_has_ended(self, url: str) -> None:
        begun, may_end = asyncio.Event(), asyncio.Event()

        @tool(approval=False)
        async def slow() -> str:
            """Slow."""
            begun.set()
            await may_end.wait()
            return "done slowly"

        async with replicas(url) as several:
            runtime = await several.runtime([slow], [calls(("slow", "{}")), says("done")])
            other = await several.runtime([slow])
            run_id = await begin(runtime)
            working = asyncio.create_task(runtime.settle(run_id))
            await begun.wait()
            holding = asyncio.create_task(other.hold(run_id, BOB, wait=True))
            await until(lambda: is_held(runtime, run_id))
            assert not holding.done()
            may_end.set()
            state = await holding
            assert [call.status for call in state.calls.values()] == ["ended"]
            assert (await working).model_calls == 1

    async def test_is_by_whoever_it_is_whatever_they_may_decide(self, url: str) -> None:
        """One value says who somebody is, for a decision as for anything else."""
        async with replicas(url) as several:
            runtime = await several.runtime([send], SENDS)
            state = await paused(runtime)
            held = await runtime.hold(state.run_id, by=OPERATOR)
            assert held.held is not None
            assert held.held.by == OPERATOR.principal
            told = await runtime.steer(state.run_id, "look first", by=OPERATOR)
            assert told.said[-1].by == OPERATOR.principal
            await runtime.resume(state.run_id, by=OPERATOR)
            (approval,) = state.open_approvals
            await runtime.decide(approval.id, Approve(), by=OPERATOR)
            stopped = await runtime.stop(state.run_id, by=OPERATOR, wait=True)
            assert stopped.stop is not None
            assert stopped.stop.by == OPERATOR.principal

    async def test_twice_is_one_hold(self, url: str) -> None:
        async with replicas(url) as several:
            runtime = await several.runtime([send], SENDS)
            run_id = (await paused(runtime)).run_id
            seqs = {(await runtime.hold(run_id, by)).seq for by in (BOB, ALICE)}
            assert len(seqs) == 1

    async def test_of_an_ended_run_is_refused(self, url: str) -> None:
        async with replicas(url) as several:
            runtime = await several.runtime(model=Listening())
            run_id = await runtime.start("go", requester=ALICE, wait=True)
            with pytest.raises(RunEnded, match="finished"):
                await runtime.hold(run_id, BOB)
            with pytest.raises(RunEnded, match="finished"):
                await runtime.stop(run_id, BOB)
            assert await runtime.resume(run_id, BOB) is None


class TestResume:
    async def test_lifts_a_hold_and_works_the_run_here_where_nobody_else_can(
        self, url: str
    ) -> None:
        async with replicas(url) as several:
            runtime = await several.runtime(model=Listening())
            run_id = await begin(runtime)
            await runtime.hold(run_id, BOB)
            assert (await runtime.settle(run_id)).model_calls == 0
            resumed = await runtime.resume(run_id)
            assert resumed is not None
            assert resumed.answer == "go"
            words = [r.event for r in await runtime.store.journal.read(run_id)]
            assert [e.by for e in words if isinstance(e, RunResumed)] == [BY_PROGRAM]

    async def test_leaves_the_work_to_whoever_works_and_can(self, url: str) -> None:
        async with replicas(url) as several:
            runtime = await several.runtime(model=Listening())
            store = await several.open()
            alive = Process("worker", "", ("tester",), True, False, tools={"tester": ()})
            await store.processes.join(alive)
            run_id = await begin(runtime)
            await runtime.hold(run_id, BOB)
            state = await runtime.resume(run_id, BOB)
            assert state is not None
            assert (state.held, state.model_calls) == (None, 0)

    async def test_of_a_held_run_that_waits_for_people_says_what_it_is_now(self, url: str) -> None:
        async with replicas(url) as several:
            runtime = await several.runtime([send], SENDS)
            run_id = (await paused(runtime)).run_id
            await runtime.hold(run_id, BOB)
            for wait in (True, False):
                await runtime.hold(run_id, BOB)
                state = await runtime.resume(run_id, BOB, wait=wait)
                assert state is not None
                assert state.held is None
                assert len(state.open_approvals) == 1
            assert await runtime.resume(run_id, BOB) is None, "nothing was to do"

    async def test_lifts_nothing_of_a_run_that_is_being_stopped(self, url: str) -> None:
        async with replicas(url) as several:
            runtime = await several.runtime([look], [calls(("look", "{}")), says("done")])
            run_id = await begin(runtime)
            await runtime.hold(run_id, BOB)
            store = several.stores[0]
            wanted = Stamped(
                EventId(UuidIds().event()), several.clock.now(), StopRequested(by=ALICE)
            )
            await store.journal.intend(run_id, [wanted], expected_seq=2)
            state = await runtime.resume(run_id, BOB)
            assert state is not None
            assert state.ending == "cancelled"
            kinds = [r.event.kind for r in await store.journal.read(run_id)]
            assert kinds == ["run_started", "run_held", "stop_requested", "run_cancelled"]


class TestStop:
    async def test_ends_a_run_that_waits_at_once_and_closes_what_was_asked(self, url: str) -> None:
        async with replicas(url) as several:
            runtime = await several.runtime([send], SENDS)
            state = await paused(runtime)
            stopped = await runtime.stop(state.run_id, BOB, "wrong order")
            assert stopped.ending == "cancelled"
            assert stopped.stop is not None
            assert (stopped.stop.by, stopped.stop.reason) == (BOB, "wrong order")
            with pytest.raises(ApprovalCancelled):
                await runtime.decide(state.open_approvals[0].id, Approve(), OPERATOR)
            row = await runtime.store.lists.approval(state.open_approvals[0].id)
            assert row is not None
            assert row.status == "cancelled"

    async def test_frees_the_session(self, url: str) -> None:
        async with replicas(url) as several:
            runtime = await several.runtime([send], SENDS)
            state = await paused(runtime)
            await runtime.stop(state.run_id, BOB)
            after = await runtime.steer(state.run_id, "do the other one", BOB)
            assert (after.prompt, after.session) == ("do the other one", state.session)


class TestFork:
    async def test_begins_where_the_other_had_come_to_and_repeats_nothing(self, url: str) -> None:
        looks: list[str] = []

        @tool(approval=False, effect="read")
        def peek() -> str:
            """Peek."""
            looks.append("looked")
            return "seen"

        replies = [calls(("peek", "{}")), calls(("send", "{}")), says("done")]
        async with replicas(url) as several:
            runtime = await several.runtime([peek, send], replies)
            state = await paused(runtime)
            forked = await runtime.fork(state.run_id, state.seq, BOB, wait=True)
            other = await runtime.state(forked)
            assert looks == ["looked"]
            assert other.session != state.session
            assert (other.requester, other.forked_by) == (state.requester, (BOB,))
            assert other.taken_from == (state.run_id, state.seq)
            (asked,) = other.open_approvals
            assert asked.id != state.open_approvals[0].id
            after = await runtime.decide(asked.id, Approve(), OPERATOR, wait=True)
            assert after.answer == "done"
            assert (await runtime.state(state.run_id)).seq == state.seq, "the first waits as before"

    async def test_can_be_told_something_then(self, url: str) -> None:
        async with replicas(url) as several:
            runtime = await several.runtime([send], [calls(("send", "{}")), says("no then")])
            state = await paused(runtime)
            forked = await runtime.fork(state.run_id, state.seq, BOB, text="do not", wait=True)
            other = await runtime.state(forked)
            assert other.answer == "no then"
            (call,) = other.calls.values()
            assert call.result is not None
            assert (call.result.outcome, call.attempts) == ("refused", 0)
            with pytest.raises(NothingToDo):
                await runtime.fork(state.run_id, state.seq, BOB, text="  ")
            with pytest.raises(NoBoundary):
                await runtime.fork(state.run_id, state.seq + 1, BOB)

    async def test_is_begun_whole_or_not_at_all(self, url: str) -> None:
        async with replicas(url) as several:
            runtime = await several.runtime([send], SENDS)
            state = await paused(runtime)
            forked = await runtime.fork(state.run_id, state.seq, BOB, text="kindly")
            kinds = [r.event.kind for r in await runtime.store.journal.read(forked)]
            assert kinds[:2] == ["run_started", "history_taken"]
            assert kinds[-1] == "message_received"
            assert not (await runtime.state(forked)).is_ended


class TestAskAgain:
    PATIENT = PatientPolicy(patience=Patience(expires=timedelta(hours=1)))

    async def test_asks_anew_what_nobody_decided_and_runs_what_is_approved_then(
        self, url: str
    ) -> None:
        async with replicas(url) as several:
            runtime = await several.runtime([send], SENDS, policy=self.PATIENT)
            state = await paused(runtime)
            (old,) = state.open_approvals
            with pytest.raises(StillOpen):
                await runtime.ask_again(old.id, OPERATOR)
            several.clock.advance(timedelta(hours=1))
            expired = await runtime.settle(state.run_id)
            assert expired.approvals[old.id].status == "expired"
            assert expired.open_approvals == ()
            [(listed, _)] = await runtime.approvals()
            assert (listed.id, listed.status) == (old.id, "expired"), "somebody is to ask again"
            asked = await runtime.ask_again(old.id, OPERATOR, wait=True)
            (new,) = asked.open_approvals
            assert [one.id for one, _ in await runtime.approvals()] == [new.id]
            assert asked.approvals[old.id].superseded_by == new.id
            after = await runtime.decide(new.id, Approve(), OPERATOR, wait=True)
            assert after.answer == "done"

    async def test_also_where_nobody_has_noted_that_it_was_over(self, url: str) -> None:
        async with replicas(url) as several:
            runtime = await several.runtime([send], SENDS, policy=self.PATIENT)
            (old,) = (await paused(runtime)).open_approvals
            several.clock.advance(timedelta(hours=1))
            asked = await runtime.ask_again(old.id, OPERATOR, wait=True)
            assert asked.approvals[old.id].status == "expired"
            (new,) = asked.open_approvals
            assert asked.approvals[old.id].superseded_by == new.id
            assert await runtime.replay(asked.run_id) == []

    @pytest.mark.parametrize(("then", "refusal"), [("deny", ApprovalCancelled), ("stop", RunEnded)])
    async def test_not_where_silence_has_decided_it(
        self, url: str, then: OnExpiry, refusal: type[Exception]
    ) -> None:
        patience = Patience(expires=timedelta(hours=1), on_expiry=then)
        async with replicas(url) as several:
            runtime = await several.runtime([send], SENDS, policy=PatientPolicy(patience=patience))
            state = await paused(runtime)
            several.clock.advance(timedelta(hours=1))
            with pytest.raises(refusal):
                await runtime.ask_again(state.open_approvals[0].id, OPERATOR)
            assert (await runtime.settle(state.run_id)).is_ended
            assert await runtime.replay(state.run_id) == []

    async def test_also_over_a_message_that_came_while_it_waited(self, url: str) -> None:
        async with replicas(url) as several:
            runtime = await several.runtime([send], SENDS, policy=self.PATIENT)
            state = await paused(runtime)
            await runtime.steer(state.run_id, "is it done?", BOB)
            several.clock.advance(timedelta(hours=1))
            await runtime.settle(state.run_id)
            asked = await runtime.ask_again(state.open_approvals[0].id, OPERATOR, wait=True)
            assert len(asked.open_approvals) == 1, "what people were asked about goes on waiting"
