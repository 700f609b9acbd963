"""A run that is to end: nothing new begins, what has begun is heard out, and nothing is claimed that is not
known."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from agent import (
    Approve,
    Committed,
    Interrupted,
    Principal,
    Rejected,
    Runtime,
    Settle,
    ToolContext,
    tool,
)
from agent.engine.guard import LeaseGuard
from agent.errors import ApprovalCancelled, InvalidArgs, NotFound
from agent.rules.calls import Call
from agent.rules.ids import RunId
from agent.rules.parts import Effect
from agent.rules.state import RunState
from agent.tools.declare import Tool
from store.lease_tables import LEFT_TO_ITS_AGENT
from tests.agent.engine.bench import OPERATOR, TERM, Bench, bench, calls, says, until
from tests.agent.engine.replicas import begin, replicas
from tests.databases import NewDatabase

BOB = Principal("slack:T0PILOT:U0BOB")
LONG = timedelta(minutes=5)
ACTS = [calls(("act", "{}")), says("done")]


async def advancing(b: Bench) -> asyncio.Task[None]:
    """Whoever has the run, at work on it."""
    guard: LeaseGuard = await b.claim()
    return asyncio.create_task(b.engine.advance(guard, asyncio.Event()))


def the_call(state: RunState) -> Call:
    (call,) = state.calls.values()
    return call


@pytest.mark.parametrize("effect", ["read", "idempotent", "once"])
async def test_a_call_that_has_begun_is_heard_out_before_the_run_is_over(
    effect: Effect, tmp_path: Path
) -> None:
    begun, may_end = asyncio.Event(), asyncio.Event()

    @tool(approval=False, effect=effect)
    async def act(context: ToolContext) -> str:
        """Do it."""
        begun.set()
        await may_end.wait()
        return "done"

    async with bench(tmp_path, [act], ACTS) as b:
        run_id = await b.start()
        working = await advancing(b)
        await begun.wait()
        stopping = await b.runtime.stop(run_id, BOB)
        assert not stopping.is_ended
        may_end.set()
        await working
        state = await b.runtime.state(run_id)
        assert state.ending == "cancelled"
        call = the_call(state)
        assert call.result is not None
        assert (call.result.outcome, call.result.output) == ("ok", "done")
        assert state.model_calls == 1, "nobody is asked what to do next"


class Dies:
    """A tool whose first run is cut off by its process's death, before or after it had its effect."""

    def __init__(self, effect: Effect, *, has_effect: bool, can_be_looked_up: bool) -> None:
        self.runs: list[int] = []
        self._has_effect = has_effect

        def look_up(operation_id: str) -> Committed | Rejected:
            return Committed("found") if has_effect else Rejected("not there")

        @tool(approval=False, effect=effect, reconcile=look_up if can_be_looked_up else None)
        def act(context: ToolContext) -> str:
            """Do it."""
            self.runs.append(context.attempt)
            raise Interrupted("the process died")

        self.tool: Tool = act


@pytest.mark.parametrize("effect", ["idempotent", "once"])
async def test_an_effect_that_nobody_can_know_of_is_a_review_in_the_end_and_never_runs_again(
    effect: Effect, tmp_path: Path
) -> None:
    dies = Dies(effect, has_effect=True, can_be_looked_up=effect == "idempotent")
    async with bench(tmp_path, [dies.tool], ACTS) as b:
        run_id = await b.start()
        await b.work()
        state = await b.runtime.stop(run_id, BOB)
        await b.work()
        assert not (await b.runtime.state(run_id)).is_ended, "it may still be under way"
        b.clock.advance(LONG)
        await b.work()
        state = await b.runtime.state(run_id)
        assert state.ending == "cancelled"
        (review,) = state.open_approvals
        assert review.kind == "review"
        assert "given up" not in review.requested.reason
        with pytest.raises(InvalidArgs, match="is run any more"):
            await b.runtime.decide(review.id, Settle("not_happened"), OPERATOR)
        after = await b.runtime.decide(review.id, Settle("happened"), OPERATOR)
        assert the_call(after).status == "ended"
        assert dies.runs == [1]


@pytest.mark.parametrize("has_effect", [True, False])
async def test_an_effect_that_can_be_looked_up_is_looked_up_before_the_run_is_over(
    has_effect: bool, tmp_path: Path
) -> None:
    dies = Dies("once", has_effect=has_effect, can_be_looked_up=True)
    async with bench(tmp_path, [dies.tool], ACTS) as b:
        run_id = await b.start()
        await b.work()
        await b.runtime.stop(run_id, BOB)
        b.clock.advance(LONG)
        await b.work()
        state = await b.runtime.state(run_id)
        assert (state.ending, state.open_approvals) == ("cancelled", ())
        call = the_call(state)
        assert call.receipt is not None
        assert call.receipt.status == ("committed" if has_effect else "rejected")
        assert call.status == "ended"
        assert await b.runtime.replay(run_id) == []
        assert dies.runs == [1]


@pytest.mark.parametrize("is_there", ["agent", "neither"])
async def test_a_run_whose_agent_or_tool_is_gone_can_be_ended_all_the_same(
    is_there: str, url: str
) -> None:
    dies = Dies("once", has_effect=True, can_be_looked_up=True)
    async with replicas(url) as several:
        ours = await several.runtime([dies.tool], ACTS)
        run_id = await begin(ours)
        await ours.worker(process_id="w").take_up_due()
        later = await several.runtime()
        if is_there == "neither":
            another = replace(later.agents["tester"], name="another")
            later = Runtime([another], await several.open())
        several.clock.advance(LONG)
        state = await later.stop(run_id, BOB)
        assert await later.blocked(state) is None
        state = await later.settle(run_id)
        assert state.ending == "cancelled"
        assert [approval.kind for approval in state.open_approvals] == ["review"]
        assert dies.runs == [1]


async def test_a_worker_without_the_agent_ends_a_stopped_run_that_nobody_else_does(
    url: str,
) -> None:
    dies = Dies("once", has_effect=True, can_be_looked_up=True)
    async with replicas(url) as several:
        ours = await several.runtime([dies.tool], ACTS)
        run_id = await begin(ours)
        await ours.worker(process_id="w").take_up_due()
        another = replace(ours.agents["tester"], name="another")
        worker = Runtime([another], await several.open()).worker(process_id="v")
        several.clock.advance(LONG)
        assert await worker.take_up_due() == [], "it lives, and is not theirs"
        await ours.stop(run_id, BOB)
        assert await worker.take_up_due() == [], "whoever has the agent comes first"
        several.clock.advance(LEFT_TO_ITS_AGENT)
        assert await worker.take_up_due() == [run_id]
        state = await ours.state(run_id)
        assert state.ending == "cancelled"
        assert [approval.kind for approval in state.open_approvals] == ["review"]
        assert await worker.take_up_due() == [], "what has ended is nobody's"
        assert dies.runs == [1]


async def test_a_read_that_was_cut_off_needs_no_review(tmp_path: Path) -> None:
    dies = Dies("read", has_effect=False, can_be_looked_up=False)
    async with bench(tmp_path, [dies.tool], ACTS) as b:
        run_id = await b.start()
        lease = await b.claim()
        working = asyncio.create_task(b.engine.advance(lease, asyncio.Event()))
        await until(lambda: has_run(dies))
        await b.runtime.stop(run_id, BOB)
        await asyncio.wait_for(working, 10)
        b.clock.advance(LONG)
        await b.work()
        state = await b.runtime.state(run_id)
        assert (state.ending, state.open_approvals) == ("cancelled", ())
        result = the_call(state).result
        assert result is not None, "it does not run for ever in the lists"
        assert result.outcome == "cancelled"


async def has_run(dies: Dies) -> bool:
    return bool(dies.runs)


async def test_a_tool_that_does_not_answer_in_time_leaves_a_review(tmp_path: Path) -> None:
    begun = asyncio.Event()

    @tool(approval=False, timeout=0.2)
    async def act() -> str:
        """Do it."""
        begun.set()
        await asyncio.Event().wait()
        return "never"

    async with bench(tmp_path, [act], ACTS) as b:
        run_id = await b.start()
        working = await advancing(b)
        await begun.wait()
        await b.runtime.stop(run_id, BOB)
        await working
        state = await b.runtime.state(run_id)
        assert state.ending == "cancelled"
        assert [approval.kind for approval in state.open_approvals] == ["review"]


async def test_of_a_stop_and_a_yes_at_once_one_wins_and_the_other_is_told(
    new_database: NewDatabase,
) -> None:
    ran: list[str] = []

    @tool(approval=True)
    def act() -> str:
        """Do it."""
        ran.append("act")
        return "done"

    for number in range(8):
        ran.clear()
        with new_database() as url:
            async with replicas(url) as several:
                one, two = [await several.runtime([act], ACTS) for _ in range(2)]
                asked = (await one.settle(await begin(one))).open_approvals[0]
                run_id = (await one.approval(asked.id))[1].run_id
                said = [
                    one.decide(asked.id, Approve(), OPERATOR),
                    two.stop(run_id, BOB),
                ]
                answers = await asyncio.gather(
                    *(said if number % 2 else reversed(said)), return_exceptions=True
                )
                refused = [answer for answer in answers if isinstance(answer, BaseException)]
                assert all(isinstance(error, ApprovalCancelled) for error in refused)
                state = await two.settle(run_id)
                assert state.ending == "cancelled", "a stop is heard whenever it comes"
                assert ran == []


async def test_of_a_held_run_it_is_found_out_what_became_of_what_had_begun(tmp_path: Path) -> None:
    dies = Dies("once", has_effect=True, can_be_looked_up=True)
    async with bench(tmp_path, [dies.tool], ACTS) as b:
        run_id = await b.start()
        await b.work()
        await b.runtime.hold(run_id, BOB)
        await b.work()
        b.clock.advance(LONG)
        await b.work()
        state = await b.runtime.state(run_id)
        assert state.held is not None
        call = the_call(state)
        assert call.receipt is not None
        assert (call.receipt.status, call.status) == ("committed", "ended")
        assert (state.model_calls, dies.runs) == (1, [1]), "nothing else has begun"


async def test_of_a_held_run_people_are_asked_what_nobody_can_look_up(tmp_path: Path) -> None:
    dies = Dies("once", has_effect=True, can_be_looked_up=False)
    async with bench(tmp_path, [dies.tool], ACTS) as b:
        run_id = await b.start()
        await b.work()
        await b.runtime.hold(run_id, BOB)
        b.clock.advance(LONG)
        await b.work()
        (review,) = (await b.runtime.state(run_id)).open_approvals
        assert review.kind == "review"
        await b.runtime.decide(review.id, Settle("not_happened"), OPERATOR)
        await b.work()
        assert dies.runs == [1], "it is begun again when the hold is lifted, not before"


async def test_a_stop_of_what_is_not_there_is_refused(url: str) -> None:
    async with replicas(url) as several:
        runtime = await several.runtime()
        with pytest.raises(NotFound):
            await runtime.stop(RunId("run_0"), BOB)


async def test_a_run_whose_worker_died_is_ended_by_the_next_one(url: str) -> None:
    dies = Dies("once", has_effect=False, can_be_looked_up=False)
    async with replicas(url) as several:
        ours = await several.runtime([dies.tool], ACTS)
        run_id = await begin(ours)
        await ours.worker(process_id="w").take_up_due()
        stopping = await ours.stop(run_id, BOB)
        assert not stopping.is_ended
        several.clock.advance(TERM * 4)
        other = await several.runtime([dies.tool], ACTS)
        assert await other.recover() == [run_id]
        assert (await other.state(run_id)).ending == "cancelled"
