"""Following a run: what is there, what comes, and its end."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from agent import Approve, tool
from agent.errors import NotFound
from agent.rules.ids import RunId
from tests.agent.engine.bench import OPERATOR, bench, calls, says


@tool(approval=True)
def gated() -> str:
    """Do what is asked about."""
    return "done"


SCRIPT = [calls(("gated", "{}")), says("done")]


async def test_whoever_follows_hears_each_event_once_up_to_the_end(tmp_path: Path) -> None:
    async with bench(tmp_path, [gated], SCRIPT) as b, asyncio.timeout(20):
        state = await b.play()
        heard: list[int] = []
        is_there = asyncio.Event()

        async def follow() -> None:
            async for recorded in b.runtime.stream(state.run_id):
                heard.append(recorded.seq)
                if recorded.seq == state.seq:
                    is_there.set()

        following = asyncio.create_task(follow())
        await is_there.wait()
        assert not following.done(), "the run waits, and so does whoever follows it"
        await b.runtime.decide(state.open_approvals[0].id, Approve(), OPERATOR)
        await b.work()
        await following
        after = await b.runtime.state(state.run_id)
        assert after.answer == "done"
        assert heard == list(range(1, after.seq + 1))


async def test_following_goes_on_behind_what_is_known_and_ends_with_an_ended_run(
    tmp_path: Path,
) -> None:
    async with bench(tmp_path, [], [says("ok")]) as b, asyncio.timeout(20):
        state = await b.play()
        assert [r.seq async for r in b.runtime.stream(state.run_id, after=1)] == [2, 3]
        assert [r.seq async for r in b.runtime.stream(state.run_id, after=state.seq)] == []
        with pytest.raises(NotFound):
            _ = [r async for r in b.runtime.stream(RunId("run_none"))]
