"""When a lease runs out: nothing is begun, what can be had again is cut, an effect is heard out."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest

from agent import Approve, ToolContext, tool
from agent.engine.guard import LeaseGuard
from agent.ports import ModelReply, ModelRequest
from agent.rules.parts import Effect
from tests.agent.engine.bench import OPERATOR, TERM, Bench, bench, calls, says, until


class Watch:
    """A monotonic clock that a test moves."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


class Running:
    """Something under way: began, was cut, or may end."""

    def __init__(self) -> None:
        self.began, self.release, self.cut = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def go(self) -> str:
        self.began.set()
        try:
            await self.release.wait()
        except asyncio.CancelledError:
            self.cut.set()
            raise
        return "done"


async def guarded(b: Bench, watch: Callable[[], float]) -> LeaseGuard:
    [lease] = await b.store.run_leases.claim("p", TERM, 1)
    return LeaseGuard(lease, TERM, monotonic=watch)


async def end_of(working: asyncio.Task[None]) -> None:
    working.cancel()
    await asyncio.gather(working, return_exceptions=True)


@pytest.mark.parametrize("effect", ["read", "idempotent", "once"])
async def test_a_read_is_cut_when_the_lease_has_run_out_and_an_effect_is_not(
    effect: Effect, tmp_path: Path
) -> None:
    running, watch = Running(), Watch()

    @tool(approval=False, effect=effect)
    async def work(context: ToolContext) -> str:
        """Work."""
        return await running.go()

    @tool(approval=False, effect="read")
    async def tick() -> str:
        """The engine comes round when this ends."""
        await running.began.wait()
        watch.seconds = TERM.total_seconds() + 1
        return "tock"

    script = [calls(("work", "{}"), ("tick", "{}")), says("ok")]
    async with bench(tmp_path, [work, tick], script) as b:
        run_id = await b.start()
        guard = await guarded(b, watch)
        working = asyncio.create_task(b.engine.advance(guard, asyncio.Event()))
        if effect == "read":
            async with asyncio.timeout(5):
                await running.cut.wait()
            await end_of(working)
            return
        async with asyncio.timeout(5):
            await running.began.wait()
        running.release.set()

        async def has_result() -> bool:
            return any(c.result for c in (await b.runtime.state(run_id)).calls.values())

        await until(has_result)
        assert not running.cut.is_set()
        await end_of(working)


async def test_a_model_request_is_cut_too_and_made_again_after_the_renewal(tmp_path: Path) -> None:
    running, watch, short = Running(), Watch(), TERM / 1_000

    class OneModel:
        name = "one"
        asked = 0

        async def reply(self, request: ModelRequest) -> ModelReply:
            self.asked += 1
            if self.asked == 1:
                # Not before: without a lease nobody is asked.
                watch.seconds = short.total_seconds()
                await running.go()
            return says("ok")

    async with bench(tmp_path, [], []) as b:
        [agent] = b.engine.agents.values()
        engine = replace(b.engine, agents={agent.name: replace(agent, model=OneModel())})
        run_id = await b.start()
        [lease] = await b.store.run_leases.claim("p", TERM, 1)
        guard = LeaseGuard(lease, short, monotonic=watch)
        working = asyncio.create_task(engine.advance(guard, asyncio.Event()))
        await running.cut.wait()
        assert guard.is_over
        guard.renew(lease, asked_at=watch.seconds)
        await working
        assert (await b.runtime.state(run_id)).answer == "ok"


async def test_a_request_that_takes_too_long_is_made_again_later(tmp_path: Path) -> None:
    class StuckModel:
        name = "stuck"

        async def reply(self, request: ModelRequest) -> ModelReply:
            await asyncio.Event().wait()
            raise AssertionError("unreachable")

    async with bench(tmp_path, [], []) as b:
        [agent] = b.engine.agents.values()
        stuck = replace(agent, model=StuckModel(), request_timeout=TERM / 3_000)
        engine = replace(b.engine, agents={agent.name: stuck})
        run_id = await b.start()
        await engine.advance(await b.claim(), asyncio.Event())
        state = await b.runtime.state(run_id)
        assert state.model_failures == 1
        assert state.retry_at is not None
        assert not state.is_ended


async def test_a_tool_that_takes_five_times_the_lease_runs_once(tmp_path: Path) -> None:
    """With a worker that renews, and a second one that would take it over if it could."""
    begun: list[int] = []
    running = Running()

    @tool(approval=True, timeout=3_600)
    async def deploy() -> str:
        """Deploy."""
        begun.append(1)
        return await running.go()

    async with bench(tmp_path, [deploy], [calls(("deploy", "{}")), says("ok")]) as b:
        run_id = await b.start()
        await b.work()
        [(approval, _)] = await b.runtime.approvals()
        await b.runtime.decide(approval.id, Approve(), OPERATOR)
        term = timedelta(seconds=0.3)
        one = b.runtime.worker(process_id="one", term=term)
        two = b.runtime.worker(process_id="two", term=term)
        workers = [asyncio.create_task(worker.run()) for worker in (one, two)]
        await running.began.wait()
        for _ in range(20):
            # The store's clock goes on by a quarter of the lease each time that it was renewed.
            seen = lease_end(tmp_path)
            b.clock.advance(term / 4)
            await until(partial(has_moved, tmp_path, seen))
        running.release.set()
        async with asyncio.timeout(10):
            async for _ in b.runtime.stream(run_id):
                pass
        for worker in (one, two):
            await worker.stop()
        await asyncio.gather(*workers)
        assert begun == [1]


def lease_end(folder: Path) -> object:
    with closing(sqlite3.connect(folder / "runs.db")) as db:
        return db.execute("SELECT lease_expires_at FROM runs").fetchone()[0]


async def has_moved(folder: Path, seen: object) -> bool:
    return lease_end(folder) != seen
