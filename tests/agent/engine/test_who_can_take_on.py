"""Who could take a run on: a live process that works its agent's runs and has the tools that it needs."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from agent import Approve, Runtime, ToolContext, tool
from agent.errors import Blocked
from agent.ports import Process
from agent.rules.state import RunState
from tests.agent.engine.bench import OPERATOR, TERM, calls, says
from tests.agent.engine.replicas import Replicas, begin, replicas
from tests.store.database import ask


@tool(approval=True, effect="idempotent")
def send(context: ToolContext) -> str:
    """Send."""
    return "sent"


@tool(approval=False)
def other() -> str:
    """Other."""
    return "other"


REPLIES = [calls(("send", "{}")), says("done")]


async def asked(several: Replicas) -> RunState:
    """A run that waits for a yes to ``send``; nobody is alive."""
    runtime = await several.runtime([send], REPLIES)
    return await runtime.settle(await begin(runtime))


async def join(
    runtime: Runtime, *tools: str, name: str = "bot", agent: str = "tester", does_work: bool = True
) -> None:
    """A live process with an agent and its tools."""
    process = Process(name, "test", (agent,), does_work, draws=False, tools={agent: tools})
    await runtime.store.processes.join(process)


async def approve(runtime: Runtime, state: RunState, *, wait: bool = False) -> RunState:
    decided = runtime.decide(state.open_approvals[0].id, Approve(), OPERATOR, wait=wait)
    return await asyncio.wait_for(decided, 20)


class TestBlocked:
    async def test_is_a_run_whose_tool_neither_the_bots_have_nor_this_process(
        self, url: str
    ) -> None:
        async with replicas(url) as several:
            state = await asked(several)
            without = await several.runtime([other])
            await join(without, "other")
            assert await without.blocked(state) == {
                "code": "missing_tool",
                "message": "tester has no tool send any more.",
                "fix": "Put the tool back; the run goes on by itself.",
            }
            assert not await without.is_worked(state)

    async def test_is_not_a_run_that_some_live_process_has_the_tool_for(self, url: str) -> None:
        async with replicas(url) as several:
            state = await asked(several)
            without = await several.runtime([other])
            await join(without, "other")
            await join(without, "other", "send", name="newer")
            assert await without.blocked(state) is None
            assert await without.is_worked(state)

    async def test_counts_no_process_of_another_agent_and_none_that_works_nothing(
        self, url: str
    ) -> None:
        async with replicas(url) as several:
            state = await asked(several)
            without = await several.runtime([other])
            await join(without, "send", agent="somebody")
            await join(without, "send", name="hand", does_work=False)
            assert await without.blocked(state) is not None

    async def test_is_not_a_run_that_somebody_who_has_the_tool_holds(self, url: str) -> None:
        async with replicas(url) as several:
            state = await asked(several)
            without = await several.runtime([other])
            await join(without, "send", name="hand", does_work=False)
            await without.store.run_leases.claim_one(state.run_id, "hand", TERM, seen_seq=state.seq)
            assert await without.blocked(state) is None

    async def test_is_what_the_bots_lack_though_it_is_here(self, url: str) -> None:
        async with replicas(url) as several:
            state = await asked(several)
            having = await several.runtime([send], REPLIES)
            assert await having.blocked(state) is None, "nobody works; it could be worked here"
            await join(having, "other")
            blocked = await having.blocked(state)
            assert blocked is not None
            assert blocked["code"] == "missing_tool"
            assert "No bot that runs now has" in blocked["message"]
            assert f"pilothouse resume {state.run_id}" in blocked["fix"]

    async def test_is_what_only_bots_of_an_older_build_are_there_for(self, url: str) -> None:
        async with replicas(url) as several:
            state = replace(await asked(several), form=3)
            having = await several.runtime([send], REPLIES)
            await join(having, "send")
            assert await having.blocked(state) is None
            ask(url, "UPDATE processes SET form = NULL")
            blocked = await having.blocked(state)
            assert blocked is not None
            assert blocked["code"] == "incompatible"
            assert not await having.is_worked(state)
            assert await having.is_worked(replace(state, form=2))

    async def test_is_no_run_that_only_lacks_what_was_not_judged_yet(self, url: str) -> None:
        async with replicas(url) as several:
            having = await several.runtime([send], REPLIES)
            state = await having.state(await begin(having))
            await join(having)
            assert await having.blocked(state) is None


class TestADecision:
    async def test_ends_when_nobody_has_the_tool_though_a_bot_lives(self, url: str) -> None:
        async with replicas(url) as several:
            state = await asked(several)
            without = await several.runtime([other])
            await join(without, "other")
            with pytest.raises(Blocked, match="no tool send") as blocked:
                await approve(without, state, wait=True)
            assert (blocked.value.code, blocked.value.fix[:17]) == (
                *("missing_tool", "Put the tool back"),
            )

    async def test_is_carried_out_here_when_the_bots_lack_the_tool(self, url: str) -> None:
        async with replicas(url) as several:
            state = await asked(several)
            having = await several.runtime([send], REPLIES)
            await join(having, "other")
            assert (await approve(having, state, wait=True)).answer == "done"


async def test_a_runtime_says_which_tools_its_agents_have(url: str) -> None:
    async with replicas(url) as several:
        runtime = await several.runtime([send, other])
        process = runtime.process("p1", draws=True)
        assert process.tools == {"tester": ("send", "other")}
        assert (process.does_work, process.draws) == (True, True)
