"""What goes wrong around a run, and what must not come of it."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from agent import (
    Approve,
    Deny,
    Interrupted,
    Policy,
    Rule,
    Runtime,
    Toolbox,
    ToolContext,
    tool,
)
from agent.engine import journaling
from agent.engine.advance import Engine
from agent.errors import Blocked, LeaseLost, StoreUnavailable
from agent.ports import ModelReply, ModelRequest
from agent.rules.ids import RunId
from agent.rules.transcript import ToolMessage
from agent.tools.declare import Tool
from tests.agent.engine.bench import OPERATOR, Bench, bench, calls, says
from tests.agent.engine.crashing import HookedJournal, StoreWith


class Slow:
    """A tool that goes on until it is released, and knows whether it was cut."""

    def __init__(self) -> None:
        self.began, self.release = asyncio.Event(), asyncio.Event()
        self.is_cut = False

    def declare(self) -> Tool:
        async def send() -> str:
            """Send it."""
            self.began.set()
            try:
                await self.release.wait()
            except asyncio.CancelledError:
                self.is_cut = True
                raise
            return "sent"

        return tool(approval=False)(send)


@tool(approval=True)
def gated() -> str:
    """Do what is asked about."""
    return "done"


async def test_a_store_that_is_away_for_a_moment_cuts_no_effect(tmp_path: Path) -> None:
    slow, is_away = Slow(), asyncio.Event()

    def away() -> None:
        if slow.began.is_set() and not is_away.is_set():
            is_away.set()
            raise StoreUnavailable("locked")

    async with bench(tmp_path, [slow.declare()], [calls(("send", "{}")), says("done")]) as b:
        run_id = await b.start()
        store = StoreWith(b.store, HookedJournal(b.store.journal, before_read=away))
        engine = replace(b.engine, store=store)
        working = asyncio.create_task(engine.advance(await b.claim(), asyncio.Event()))
        await is_away.wait()
        slow.release.set()
        with pytest.raises(StoreUnavailable):
            await working
        assert not slow.is_cut
        (call,) = (await b.runtime.state(run_id)).calls.values()
        assert call.result is not None, "it was heard out, and its outcome recorded"


async def test_a_sibling_that_is_blocked_cuts_no_effect(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = Slow()
    send = slow.declare()
    script = [calls(("send", "{}"), ("gated", "{}")), says("done")]
    async with bench(tmp_path, [send, gated], script) as b:
        run_id = await b.start()
        guard = await b.claim()
        first = asyncio.create_task(b.engine.advance(guard, asyncio.Event()))
        await slow.began.wait()
        while not (asked := (await b.runtime.state(run_id)).open_approvals):
            await b.store.wakeups.wait(b.store.wakeups.moves, 1)
        # The tool of the sibling goes while the first one runs.
        monkeypatch.setattr(b.engine.agents["tester"].toolbox, "_tools", {"send": send})
        await b.runtime.decide(asked[0].id, Approve(), OPERATOR)
        await b.store.wakeups.wait(b.store.wakeups.moves, 0.2)
        slow.release.set()
        with pytest.raises(Blocked):
            await first
        assert not slow.is_cut


async def test_a_read_that_is_interrupted_waits_for_its_deadline_the_second_time(
    tmp_path: Path,
) -> None:
    attempts: list[int] = []

    @tool(approval=False, effect="read", timeout=5)
    async def look(context: ToolContext) -> str:
        """Look."""
        attempts.append(context.attempt)
        if len(attempts) < 3:
            raise Interrupted
        return "seen"

    async with bench(tmp_path, [look], [calls(("look", "{}")), says("done")]) as b:
        state = await b.play()
        assert attempts == [1, 2]
        b.clock.advance(timedelta(seconds=11))
        await b.work()
        assert attempts == [1, 2, 3]
        assert (await b.runtime.state(state.run_id)).answer == "done"


LOST = [calls(("pay", "{}")), says("done")]


@tool(approval=False, effect="idempotent", timeout=5)
async def pay(context: ToolContext) -> None:
    """Pay."""
    raise Interrupted


@asynccontextmanager
async def lost_call_under(folder: Path, rule: Rule) -> AsyncIterator[tuple[Bench, RunId]]:
    """An idempotent call was started, its answer is lost, and now this rule holds for it."""
    async with bench(folder, [pay], LOST) as b:
        run_id = (await b.play()).run_id
        b.clock.advance(timedelta(seconds=11))
        clock = b.clock
    async with bench(folder, [pay], LOST, Policy(rules=(rule,)), clock) as b:
        await b.work()
        yield b, run_id


async def test_a_lost_idempotent_call_that_is_refused_now_is_not_told_as_never_executed(
    tmp_path: Path,
) -> None:
    rule = Rule(tool="pay", action="deny", reason="frozen")
    async with lost_call_under(tmp_path, rule) as (b, run_id):
        (review,) = (await b.runtime.state(run_id)).open_approvals
        assert review.kind == "review"
        assert "frozen" in review.requested.reason
        assert b.model.requests == []


async def test_a_lost_idempotent_call_that_is_denied_now_is_told_as_what_it_is(
    tmp_path: Path,
) -> None:
    async with lost_call_under(tmp_path, Rule(tool="pay", action="ask")) as (b, run_id):
        (asked,) = (await b.runtime.state(run_id)).open_approvals
        await b.runtime.decide(asked.id, Deny("no"), OPERATOR)
        await b.work()
        (told,) = [m for m in b.model.requests[-1].messages if isinstance(m, ToolMessage)]
        assert "its answer was lost" in told.output
        assert "was not executed and" not in told.output


class Withdrawn:
    """A model whose own request was cancelled under it."""

    name = "withdrawn"

    async def reply(self, request: ModelRequest) -> ModelReply:
        raise asyncio.CancelledError


async def test_a_cancelled_model_request_fails_the_run_and_does_not_stop_it_silently(
    tmp_path: Path,
) -> None:
    async with bench(tmp_path, [], []) as b:
        agent = replace(b.engine.agents["tester"], model=Withdrawn())
        engine = Engine(b.store, {"tester": agent}, b.engine.ids)
        run_id = await b.start()
        await engine.advance(await b.claim(), asyncio.Event())
        assert "Cancelled" in str((await b.runtime.state(run_id)).error)


async def test_a_cancelled_preview_is_no_preview(tmp_path: Path) -> None:
    async def preview() -> str:
        raise asyncio.CancelledError

    @tool(approval=True, preview=preview)
    def act() -> None:
        """Do it."""

    async with bench(tmp_path, [act], [calls(("act", "{}"))]) as b:
        (asked,) = (await b.play()).open_approvals
        assert asked.requested.preview is None


async def test_a_cancelled_look_up_proves_nothing(tmp_path: Path) -> None:
    async def find(operation_id: str) -> None:
        raise asyncio.CancelledError

    @tool(approval=False, reconcile=find, timeout=5)
    def act() -> None:
        """Do it."""
        raise Interrupted

    async with bench(tmp_path, [act], [calls(("act", "{}"))]) as b:
        state = await b.play()
        b.clock.advance(timedelta(seconds=11))
        await b.work()
        (review,) = (await b.runtime.state(state.run_id)).open_approvals
        assert review.kind == "review"


async def test_what_returned_is_recorded_however_long_the_store_is_away(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journaling, "AGAIN_AFTER", 0.0)
    tries: list[int] = []

    def away() -> None:
        tries.append(1)
        if len(tries) < 9:
            raise StoreUnavailable("locked")

    @tool(approval=False)
    def act() -> str:
        """Do it."""
        return "done"

    async with bench(tmp_path, [act], [calls(("act", "{}")), says("ok")]) as b:
        run_id = await b.start()
        store = StoreWith(b.store, HookedJournal(b.store.journal, before_record=away))
        await replace(b.engine, store=store).advance(await b.claim(), asyncio.Event())
        state = await b.runtime.state(run_id)
        assert state.answer == "ok"
        assert [call.attempts for call in state.calls.values()] == [1]
    assert caplog.messages == [f"{run_id} can't be recorded yet; trying again"]


async def test_whoever_has_lost_the_lease_stops_what_is_in_flight(tmp_path: Path) -> None:
    slow = Slow()
    async with bench(tmp_path, [slow.declare()], [calls(("send", "{}"))]) as b:
        await b.start()
        guard = await b.claim()
        working = asyncio.create_task(b.engine.advance(guard, asyncio.Event()))
        await slow.began.wait()
        guard.lose()
        with pytest.raises(LeaseLost):
            await working
        assert slow.is_cut


async def test_one_run_that_can_not_be_read_hides_no_other(tmp_path: Path) -> None:
    async with bench(tmp_path, [gated], [calls(("gated", "{}"))]) as b:
        one, two = await b.start("one"), await b.start("two")
        await b.work()
        _change(tmp_path, "UPDATE journal SET body = replace(body, 'call_judged', 'flown')", one)
        assert [state.run_id for state in await b.runtime.runs()] == [two]
        assert [state.run_id for _, state in await b.runtime.approvals()] == [two]


async def test_whoever_waits_for_a_blocked_run_is_told(tmp_path: Path) -> None:
    async with bench(tmp_path, [gated], [calls(("gated", "{}"))]) as b:
        state = await b.play()
        without = replace(b.engine.agents["tester"], toolbox=Toolbox())
        runtime = Runtime([without], b.store)
        with pytest.raises(Blocked):
            await runtime.decide(state.open_approvals[0].id, Approve(), OPERATOR, wait=True)


def _change(folder: Path, statement: str, run_id: RunId) -> None:
    connection = sqlite3.connect(folder / "runs.db")
    with connection:
        connection.execute(f"{statement} WHERE run_id = ?", (run_id,))
    connection.close()
