"""Effects that are cut short, again and again or by an hour without a store; and what a changed tool may
still do with them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from agent import Approve, Committed, Interrupted, Principal, Rejected, Toolbox, ToolContext, tool
from agent.engine.guard import LeaseGuard
from agent.engine.planning import ATTEMPTS_LIMIT
from agent.errors import StoreUnavailable
from agent.ports import ModelReply, ModelRequest
from agent.rules.parts import Effect
from agent.rules.recorded import Stamped
from tests.agent.engine.bench import OPERATOR, TERM, Bench, bench, calls, says
from tests.agent.engine.crashing import HookedJournal, StoreWith

LONG = timedelta(minutes=5)


async def work_on(b: Bench, times: int) -> None:
    """Work what is due, and what is due after each deadline."""
    for _ in range(times):
        await b.work()
        b.clock.advance(LONG)


@pytest.mark.parametrize("effect", ["read", "idempotent", "once"])
async def test_a_call_that_never_comes_to_an_end_fails_the_run_after_so_many_attempts(
    effect: Effect, tmp_path: Path
) -> None:
    begun: list[int] = []
    is_mended = False

    @tool(approval=False, effect=effect, reconcile=lambda _: Rejected("not there"))
    def act(context: ToolContext) -> str:
        """Do it."""
        begun.append(context.attempt)
        if not is_mended:
            raise Interrupted("the process died")
        return "done"

    async with bench(tmp_path, [act], [calls(("act", "{}")), says("ok")]) as b:
        run_id = await b.start()
        await work_on(b, 3 * ATTEMPTS_LIMIT)
        state = await b.runtime.state(run_id)
        assert begun == list(range(1, ATTEMPTS_LIMIT + 1))
        assert state.ending == "failed"
        assert f"Act was begun {ATTEMPTS_LIMIT} times" in (state.error or "")
        # Taken on again it has as many attempts more.
        is_mended = True
        await b.runtime.retry(run_id, Principal("cli:test"))
        await work_on(b, 2)
        assert (await b.runtime.state(run_id)).answer == "ok"
        assert begun[-1] == ATTEMPTS_LIMIT + 1


async def test_a_tool_that_became_stricter_while_it_waited_is_recovered_as_what_it_is_now(
    tmp_path: Path,
) -> None:
    sent: list[str] = []

    def look_for(operation_id: str) -> Committed | Rejected:
        return Committed("sent") if operation_id in sent else Rejected("not there")

    def send(context: ToolContext) -> str:
        """Send."""
        sent.append(context.operation_id)
        raise Interrupted("the answer was lost")

    before = tool(approval=True, effect="idempotent")(send)
    now = tool(approval=True, effect="once", reconcile=look_for)(send)
    async with bench(tmp_path, [before], [calls(("send", "{}")), says("ok")]) as b:
        run_id = await b.start()
        await b.work()
        [(approval, _)] = await b.runtime.approvals()
        await b.runtime.decide(approval.id, Approve(), OPERATOR)
        [agent] = b.engine.agents.values()
        redeployed = {agent.name: replace(agent, toolbox=Toolbox([now]))}
        b = replace(b, engine=replace(b.engine, agents=redeployed))
        await work_on(b, 3)
        state = await b.runtime.state(run_id)
        [call] = state.calls.values()
        assert (len(sent), call.effect, state.answer) == (1, "once", "ok")
        assert call.receipt is not None
        assert call.receipt.status == "committed"


async def test_a_tool_that_became_laxer_is_still_recovered_as_what_it_was(tmp_path: Path) -> None:
    sent: list[str] = []

    def send(context: ToolContext) -> str:
        """Send."""
        sent.append(context.operation_id)
        raise Interrupted("the answer was lost")

    before = tool(approval=False, effect="once", reconcile=lambda _: None)(send)
    now = tool(approval=False, effect="read")(send)
    async with bench(tmp_path, [before], [calls(("send", "{}")), says("ok")]) as b:
        run_id = await b.start()
        guard = await b.claim()
        working = asyncio.create_task(b.engine.advance(guard, asyncio.Event()))
        await asyncio.wait([working], timeout=5)
        [agent] = b.engine.agents.values()
        redeployed = {agent.name: replace(agent, toolbox=Toolbox([now]))}
        b = replace(b, engine=replace(b.engine, agents=redeployed))
        b.clock.advance(LONG)
        await b.work()
        [review] = (await b.runtime.state(run_id)).open_approvals
        assert (len(sent), review.kind) == (1, "review")


async def test_what_returned_is_recorded_also_when_the_lease_has_run_out_and_nobody_came(
    tmp_path: Path,
) -> None:
    seconds, away = 0.0, 3

    @tool(approval=False)
    def pay() -> str:
        """Pay."""
        nonlocal seconds
        seconds = TERM.total_seconds() + 1
        return "paid"

    def is_away(events: Sequence[Stamped]) -> None:
        nonlocal away
        if away and any(one.event.kind == "call_returned" for one in events):
            away -= 1
            raise StoreUnavailable("locked")

    async with bench(tmp_path, [pay], [calls(("pay", "{}")), says("ok")]) as b:
        run_id = await b.start()
        [lease] = await b.store.run_leases.claim("p", TERM, 1)
        guard = LeaseGuard(lease, TERM, asked_at=0.0, monotonic=lambda: seconds)
        journal = HookedJournal(b.store.journal, before_record_of=is_away)
        engine = replace(b.engine, store=StoreWith(b.store, journal))
        working = asyncio.create_task(engine.advance(guard, asyncio.Event()))
        async with asyncio.timeout(20):
            async for one in b.runtime.stream(run_id):
                if one.event.kind == "call_returned":
                    break
        working.cancel()
        await asyncio.gather(working, return_exceptions=True)
        assert away == 0


@pytest.mark.parametrize("effect", ["read", "idempotent", "once"])
async def test_a_renewal_amid_a_commit_changes_no_plan(effect: Effect, tmp_path: Path) -> None:
    """Planned with too little of the lease left, and renewed before the plan is carried out."""
    seconds = 0.0

    @tool(approval=False, effect=effect)
    def act(context: ToolContext) -> str:
        """Do it."""
        return "done"

    @tool(approval=True)
    def gated() -> str:
        """Makes a commit of its own, in which no start is."""
        return "done"

    script = [calls(("act", "{}"), ("gated", "{}")), says("ok")]
    async with bench(tmp_path, [act, gated], script) as b:
        run_id = await b.start()
        [lease] = await b.store.run_leases.claim("p", TERM, 1)
        guard = LeaseGuard(lease, TERM, asked_at=0.0, monotonic=lambda: seconds)

        def renew(events: Sequence[Stamped]) -> None:
            guard.renew(lease, seconds)

        [agent] = b.engine.agents.values()
        inner = agent.model

        class Late:
            name = "late"

            async def reply(self, request: ModelRequest) -> ModelReply:
                nonlocal seconds
                seconds = 25.0
                return await inner.reply(request)

        journal = HookedJournal(b.store.journal, before_intend=renew)
        engine = replace(
            b.engine,
            store=StoreWith(b.store, journal),
            agents={agent.name: replace(agent, model=Late())},
        )
        async with asyncio.timeout(10):
            await engine.advance(guard, asyncio.Event())
        state = await b.runtime.state(run_id)
        assert [a.kind for a in state.open_approvals] == ["call"]
        assert next(c for c in state.calls.values() if c.tool == "act").result is not None
