"""Whoever came for one run works that one, and nobody else's."""

from __future__ import annotations

import asyncio

from agent import tool
from agent.ports import ModelReply, ModelRequest
from agent.rules.transcript import UserMessage
from tests.agent.engine.bench import ALICE, calls, says, until
from tests.agent.engine.replicas import begin, replicas


class TwoKinds:
    """Has the slow tool run for others, and is done at once with ours."""

    name = "two-kinds"

    async def reply(self, request: ModelRequest) -> ModelReply:
        first = request.messages[0]
        assert isinstance(first, UserMessage)
        if first.text == "other" and len(request.messages) == 1:
            return calls(("slow", "{}"))
        return says("ok")


async def test_a_run_that_is_waited_for_does_not_wait_for_others(url: str) -> None:
    ran: list[int] = []

    @tool(approval=False, effect="read")
    async def slow() -> None:
        """Takes long."""
        ran.append(1)
        await asyncio.Event().wait()

    async with replicas(url) as several:
        runtime = await several.runtime([slow], model=TwoKinds())
        other = await begin(runtime, "other")
        async with asyncio.timeout(20):
            mine = await runtime.start("mine", requester=ALICE, wait=True)
        assert (await runtime.state(mine)).answer == "ok"
        assert (ran, (await runtime.state(other)).seq) == ([], 1)


async def test_taking_up_what_is_due_ends_when_it_is_told_to(url: str) -> None:
    begun: list[int] = []
    may_end = asyncio.Event()

    @tool(approval=False, effect="read")
    async def slow() -> None:
        """Takes long."""
        begun.append(1)
        await may_end.wait()

    async with replicas(url) as several:
        runtime = await several.runtime([slow], model=TwoKinds())
        for _ in range(12):
            await begin(runtime, "other")
        recovering = asyncio.create_task(runtime.recover())

        async def is_begun() -> bool:
            return len(begun) >= 8

        await until(is_begun)
        recovering.cancel()
        await asyncio.sleep(0)
        may_end.set()
        async with asyncio.timeout(20):
            await asyncio.gather(recovering, return_exceptions=True)
        assert len(begun) == 8, "nothing more is begun once it is to end"
