"""A decision, and what comes of it, as it happens."""

from __future__ import annotations

import asyncio
from contextlib import aclosing

import pytest

from agent import Approve, Deny, Policy, Rule, RuleApprovers, Runtime, tool
from agent.errors import Blocked, NotAllowed, NotFound
from agent.rules.decisions import Decider, Decision
from agent.rules.ids import ApprovalId, Principal
from tests.agent.engine.bench import OPERATOR, TERM, calls, says
from tests.agent.engine.replicas import Replicas, begin, replicas

BOB = Decider(Principal("slack:T1:UBOB"), "UBOB")
EVE = Decider(Principal("slack:T1:UEVE"), "UEVE")
TWO = Policy(
    rules=(
        Rule(tool="send", action="ask", approvers=RuleApprovers(users=("UBOB", "UCAROL"), count=2)),
    )
)
TWICE = [calls(("send", '{"what": "a"}')), calls(("send", '{"what": "b"}')), says("done")]


@tool
def send(what: str) -> str:
    """Send."""
    return f"sent {what}"


async def asking(several: Replicas, policy: Policy | None = None) -> tuple[Runtime, ApprovalId]:
    runtime = await several.runtime([send], TWICE, policy=policy)
    state = await runtime.settle(await begin(runtime))
    return runtime, state.open_approvals[0].id


async def kinds(
    runtime: Runtime,
    approval_id: ApprovalId,
    decision: Decision,
    decider: Decider = OPERATOR,
    told: list[str] | None = None,
) -> list[str]:
    """What is told; it goes into ``told``, too, for whoever meets an error."""
    told = [] if told is None else told
    async for one in runtime.decide_stream(approval_id, decision, decider):
        told.append(one.event.kind)
    return told


async def test_it_begins_with_the_decision_and_ends_at_the_next_question(url: str) -> None:
    async with replicas(url) as several:
        runtime, first = await asking(several)
        told = await kinds(runtime, first, Approve())
        assert told == [
            *("approval_decided", "call_started", "call_returned"),
            *("model_replied", "call_judged", "approval_requested"),
        ]
        (run,) = await runtime.runs()
        told = await kinds(runtime, run.open_approvals[0].id, Deny("no"))
        assert told == ["approval_decided", "model_replied", "run_finished"]
        assert await runtime.store.processes.alive(TERM) == [], "it worked, and left"


async def test_a_yes_that_is_not_enough_is_all_there_is(url: str) -> None:
    async with replicas(url) as several:
        runtime, approval_id = await asking(several, TWO)
        assert await kinds(runtime, approval_id, Approve(), BOB) == ["approval_voted"]


async def test_another_process_may_do_the_work(url: str) -> None:
    async with replicas(url) as several:
        runtime, approval_id = await asking(several)
        other = await several.runtime([send], TWICE)
        worker = other.worker(process_id="w")
        working = asyncio.create_task(worker.run())
        told = await kinds(runtime, approval_id, Approve())
        await worker.stop(TERM)
        await working
        assert told[0] == "approval_decided"
        assert told[-1] == "approval_requested"


async def test_what_is_refused_gives_nothing(url: str) -> None:
    async with replicas(url) as several:
        runtime, approval_id = await asking(several)
        with pytest.raises(NotAllowed):
            await kinds(runtime, approval_id, Approve(), EVE)
        with pytest.raises(NotFound):
            await kinds(runtime, ApprovalId("apr_0"), Approve())


async def test_where_nobody_can_go_on_the_decision_stays(url: str) -> None:
    async with replicas(url) as several:
        runtime, approval_id = await asking(several)
        without = await several.runtime()
        told: list[str] = []
        with pytest.raises(Blocked, match="no tool send"):
            await kinds(without, approval_id, Approve(), told=told)
        assert told == ["approval_decided"]
        approval, _ = await runtime.approval(approval_id)
        assert approval.status == "approved"


async def test_whoever_stops_listening_leaves_nobody_behind(url: str) -> None:
    async with replicas(url) as several:
        runtime, approval_id = await asking(several)
        events = runtime.decide_stream(approval_id, Approve(), OPERATOR)
        async with aclosing(events):
            async for one in events:
                if one.event.kind == "call_started":
                    break
        assert await runtime.store.processes.alive(TERM) == []
        approval, _ = await runtime.approval(approval_id)
        assert approval.status == "approved"
