"""Runs that stopped go on: found, tried again, taken over, taken on after a failure."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from datetime import timedelta

import pytest

from agent import Agent, Approve, Deny, Runtime, ToolContext, tool
from agent.errors import Blocked, GoneOn, NotFailed, NotFound, SessionBusy
from agent.ports import ModelReply, ModelRequest, ModelUnavailable
from agent.rules.events import RunReopened
from agent.rules.ids import Principal, RunId, SessionId
from agent.tools.declare import Tool
from tests.agent.engine.bench import ALICE, OPERATOR, TERM, calls, says
from tests.agent.engine.replicas import begin, replicas

OP = Principal("cli:op")


@tool(approval=False, effect="idempotent")
def put(key: str, context: ToolContext) -> str:
    """Put."""
    return f"put {key}"


@tool(approval=True)
def send() -> str:
    """Send."""
    return "sent"


def counted() -> tuple[Tool, list[str]]:
    """A tool, and a line for each time that it really ran."""
    effects: list[str] = []

    @tool(approval=False)
    def act(line: str) -> str:
        """Act."""
        effects.append(line)
        return line

    return act, effects


PUTS = [calls(("put", '{"key": "a"}')), says("done")]


@dataclass
class InTurn:
    """A model that gives one answer after the other, whatever it is asked."""

    answers: list[ModelReply | Exception]
    name: str = "in turn"

    async def reply(self, request: ModelRequest) -> ModelReply:
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


async def work(runtime: Runtime) -> None:
    """A worker of this process, until nothing is due."""
    await runtime.worker(process_id="w").take_up_due()


class TestUnfinished:
    async def test_are_the_runs_that_have_not_ended_newest_first(self, url: str) -> None:
        async with replicas(url) as several:
            runtime = await several.runtime([put, send], [calls(("send", "{}")), says("done")])
            waits = await begin(runtime)
            over = await begin(runtime)
            for run_id in (waits, over):
                await runtime.settle(run_id)
            asked = (await runtime.state(over)).open_approvals[0].id
            await runtime.decide(asked, Deny("no"), OPERATOR, wait=True)
            several.clock.advance(timedelta(seconds=1))
            fresh = await begin(runtime)
            assert [state.run_id for state in await runtime.unfinished()] == [fresh, waits]
            assert [state.run_id for state in await runtime.unfinished(limit=1)] == [fresh]


class TestResume:
    @pytest.mark.usefixtures("quick_deaths")
    async def test_works_a_run_whose_process_died(self, url: str) -> None:
        async with replicas(url) as several:
            runtime = await several.runtime([put], PUTS)
            run_id = await begin(runtime)
            assert await several.die_holding() == [run_id]
            state = await runtime.resume(run_id)
            assert state is not None
            assert state.answer == "done"

    async def test_tries_a_blocked_run_before_its_time(self, url: str) -> None:
        async with replicas(url) as several:
            old = await several.runtime([put, send], [calls(("send", "{}")), says("done")])
            run_id = await begin(old)
            asked = (await old.settle(run_id)).open_approvals[0].id
            await old.decide(asked, Approve(), OPERATOR)
            without = await several.runtime([put])
            await work(without)
            assert await without.blocked(await without.state(run_id)) is not None
            with pytest.raises(Blocked, match="no tool send"):
                await without.resume(run_id)
            with_it_again = await several.runtime([send], [calls(("send", "{}")), says("done")])
            state = await with_it_again.resume(run_id)
            assert state is not None
            assert state.answer == "done"

    async def test_of_an_agent_that_is_gone_is_refused(self, url: str) -> None:
        async with replicas(url) as several:
            runtime = await several.runtime()
            run_id = await begin(runtime)
            other = Runtime([_renamed(runtime)], await several.open())
            with pytest.raises(Blocked, match="tester is not configured"):
                await other.resume(run_id)

    async def test_leaves_alone_what_has_ended_or_waits_for_people(self, url: str) -> None:
        async with replicas(url) as several:
            runtime = await several.runtime([send], [calls(("send", "{}")), says("done")])
            run_id = await begin(runtime)
            before = await runtime.settle(run_id)
            assert await runtime.resume(run_id) is None
            assert await runtime.resume(run_id, wait=True) is None
            assert await runtime.state(run_id) == before
            await runtime.decide(before.open_approvals[0].id, Approve(), OPERATOR, wait=True)
            assert await runtime.resume(run_id) is None
            with pytest.raises(NotFound):
                await runtime.resume(RunId("run_0"))

    async def test_leaves_a_run_to_whoever_holds_it(self, url: str) -> None:
        async with replicas(url) as several:
            runtime = await several.runtime([put], PUTS)
            run_id = await begin(runtime)
            await runtime.store.run_leases.claim("alive", TERM, 1)
            assert await runtime.resume(run_id) is None
            assert (await runtime.state(run_id)).seq == 1

    @pytest.mark.usefixtures("quick_deaths")
    async def test_of_two_at_once_one_works_and_the_other_does_nothing(self, url: str) -> None:
        act, effects = counted()
        replies = [calls(("act", '{"line": "x"}')), says("done")]
        async with replicas(url) as several:
            one, two = [await several.runtime([act], replies) for _ in range(2)]
            run_id = await begin(one)
            await several.die_holding()
            resumed = await asyncio.gather(one.resume(run_id), two.resume(run_id))
            assert sum(state is None for state in resumed) == 1
            assert effects == ["x"]
            assert (await one.state(run_id)).answer == "done"

    async def test_goes_on_after_a_pause_only_for_whoever_waits(self, url: str) -> None:
        model = InTurn([ModelUnavailable("busy", 60.0), says("done")])
        async with replicas(url) as several:
            runtime = await several.runtime(model=model)
            run_id = await begin(runtime)
            state = await runtime.resume(run_id)
            assert state is not None
            assert state.model_failures == 1
            assert await runtime.resume(run_id) is None, "its time has not come"
            waiting = asyncio.create_task(runtime.resume(run_id, wait=True))
            await asyncio.sleep(0)
            several.clock.advance(timedelta(minutes=1))
            state = await waiting
            assert state is not None
            assert state.answer == "done"

    async def test_leaves_nobody_behind(self, url: str) -> None:
        async with replicas(url) as several:
            runtime = await several.runtime([put], PUTS)
            await runtime.resume(await begin(runtime), wait=True)
            assert await runtime.store.processes.alive(TERM) == []

    async def test_that_is_cancelled_lets_a_running_call_end(self, url: str) -> None:
        begun, may_end = asyncio.Event(), asyncio.Event()

        @tool(approval=False)
        async def slow() -> str:
            """Slow."""
            begun.set()
            await may_end.wait()
            return "done slowly"

        async with replicas(url) as several:
            runtime = await several.runtime([slow], [calls(("slow", "{}")), says("done")])
            run_id = await begin(runtime)
            resuming = asyncio.create_task(runtime.resume(run_id))
            await begun.wait()
            resuming.cancel()
            may_end.set()
            with pytest.raises(asyncio.CancelledError):
                await resuming
            (call,) = (await runtime.state(run_id)).calls.values()
            assert call.receipt is not None
            assert call.receipt.status == "committed"
            assert await runtime.store.processes.alive(TERM) == []
            assert [
                lease.run_id for lease in await runtime.store.run_leases.claim("p", TERM, 1)
            ] == [run_id]


def _renamed(runtime: Runtime) -> Agent:
    return replace(runtime.agents["tester"], name="other")


class TestRecover:
    @pytest.mark.usefixtures("quick_deaths")
    async def test_takes_up_what_the_dead_held_and_what_was_decided_meanwhile(
        self, url: str
    ) -> None:
        async with replicas(url) as several:
            runtime = await several.runtime([put, send], [calls(("send", "{}")), says("done")])
            decided, waits = [await begin(runtime) for _ in range(2)]
            asked = (await runtime.settle(decided)).open_approvals[0].id
            await runtime.settle(waits)
            await runtime.decide(asked, Approve(), OPERATOR)
            held = await begin(runtime)
            assert set(await several.die_holding(limit=5)) == {decided, held}
            assert set(await runtime.recover()) == {decided, held}
            assert (await runtime.state(decided)).answer == "done"
            assert len((await runtime.state(held)).open_approvals) == 1
            assert await runtime.recover() == []

    async def test_leaves_alone_what_the_living_hold(self, url: str) -> None:
        async with replicas(url) as several:
            runtime = await several.runtime([put], PUTS)
            run_id = await begin(runtime)
            await runtime.store.run_leases.claim("alive", TERM, 1)
            assert await runtime.recover() == []
            assert (await runtime.state(run_id)).seq == 1
            several.clock.advance(TERM)
            assert await runtime.recover() == [run_id]

    @pytest.mark.usefixtures("quick_deaths")
    async def test_is_safe_on_every_replica_at_once(self, url: str) -> None:
        act, effects = counted()
        replies = [calls(("act", '{"line": "x"}')), says("done")]
        async with replicas(url) as several:
            runtimes = [await several.runtime([act], replies) for _ in range(3)]
            begun = {await begin(runtimes[0]) for _ in range(12)}
            await several.die_holding(limit=12)
            recovered = await asyncio.gather(*(runtime.recover() for runtime in runtimes))
            taken = [run_id for some in recovered for run_id in some]
            assert sorted(taken) == sorted(begun)
            assert len(effects) == 12
            assert await runtimes[0].unfinished() == []

    async def test_one_that_is_blocked_keeps_no_other_waiting(self, url: str) -> None:
        async with replicas(url) as several:
            runtime = await several.runtime([put], PUTS)
            stranger = Runtime([_renamed(runtime)], await several.open())
            blocked, healthy = await begin(stranger), await begin(runtime)
            assert await runtime.recover() == [healthy]
            assert await stranger.recover() == [blocked]

    async def test_tells_of_those_that_can_not_go_on_here(self, url: str) -> None:
        async with replicas(url) as several:
            old = await several.runtime([send], [calls(("send", "{}")), says("done")])
            run_id = await begin(old)
            asked = (await old.settle(run_id)).open_approvals[0].id
            await old.decide(asked, Approve(), OPERATOR)
            without = await several.runtime([put])
            assert await without.recover() == [run_id]
            assert not (await without.state(run_id)).is_ended
            assert await without.recover() == [], "it has been put off"


class TestRetry:
    async def test_a_failed_run_goes_on_from_where_it_failed(self, url: str) -> None:
        act, effects = counted()
        model = InTurn([calls(("act", '{"line": "x"}')), ValueError("bad key"), says("done")])
        async with replicas(url) as several:
            runtime = await several.runtime([act], model=model)
            run_id = await begin(runtime)
            state = await runtime.settle(run_id)
            assert (state.ending, effects) == ("failed", ["x"])
            state = await runtime.retry(run_id, OP, wait=True)
            assert (state.answer, effects) == ("done", ["x"])
            events = [one.event for one in await runtime.store.journal.read(run_id)]
            assert RunReopened(by=OP) in events

    async def test_without_waiting_the_run_is_due(self, url: str) -> None:
        async with replicas(url) as several:
            runtime = await several.runtime(replies=[ValueError("bad key")])
            run_id = await begin(runtime)
            await runtime.settle(run_id)
            state = await runtime.retry(run_id, OP)
            assert (state.ending, state.error, state.reopened) == (None, None, 1)
            assert await runtime.recover() == [run_id]

    async def test_only_a_failed_run_is_taken_on_again(self, url: str) -> None:
        async with replicas(url) as several:
            runtime = await several.runtime([send], [calls(("send", "{}")), says("done")])
            run_id = await begin(runtime)
            with pytest.raises(NotFailed) as running:
                await runtime.retry(run_id, OP)
            assert running.value.status == "running"
            asked = (await runtime.settle(run_id)).open_approvals[0].id
            with pytest.raises(NotFailed) as waiting:
                await runtime.retry(run_id, OP)
            assert waiting.value.status == "waiting"
            await runtime.decide(asked, Approve(), OPERATOR, wait=True)
            with pytest.raises(NotFailed) as finished:
                await runtime.retry(run_id, OP)
            assert finished.value.status == "finished"
            with pytest.raises(NotFound):
                await runtime.retry(RunId("run_0"), OP)

    async def test_not_while_the_conversation_goes_on_with_another(self, url: str) -> None:
        async with replicas(url) as several:
            runtime = await several.runtime(replies=[ValueError("bad key")])
            session = SessionId("ses_1")
            failed = await runtime.start("go", requester=ALICE, session=session, wait=True)
            other = await runtime.start("go", requester=ALICE, session=session)
            with pytest.raises(SessionBusy) as busy:
                await runtime.retry(failed, OP)
            assert busy.value.run_id == other
            assert (await runtime.state(failed)).reopened == 0

    async def test_not_once_the_conversation_has_gone_on_without_it(self, url: str) -> None:
        """What it had not heard was handed to the next run, which has done it."""
        async with replicas(url) as several:
            runtime = await several.runtime(
                replies=[ValueError("bad key"), says("paid 100"), says("paid 100")]
            )
            session = SessionId("ses_1")
            failed = await runtime.start("go", requester=ALICE, session=session)
            await runtime.steer(failed, "pay 100", OP)
            await runtime.settle(failed)
            other = await runtime.start("go on", requester=ALICE, session=session, wait=True)
            assert [one.text for one in (await runtime.state(other)).said] == ["pay 100"]
            with pytest.raises(GoneOn) as refused:
                await runtime.retry(failed, OP)
            assert refused.value.newest == other
            assert (await runtime.state(failed)).reopened == 0

    async def test_of_two_at_once_one_takes_it_on(self, url: str) -> None:
        async with replicas(url) as several:
            runtimes = [await several.runtime(replies=[ValueError("bad")]) for _ in range(2)]
            run_id = await begin(runtimes[0])
            await runtimes[0].settle(run_id)
            outcomes = await asyncio.gather(
                *(runtime.retry(run_id, OP) for runtime in runtimes), return_exceptions=True
            )
            assert sum(isinstance(one, NotFailed) for one in outcomes) == 1
            assert (await runtimes[0].state(run_id)).reopened == 1
