"""What holds for every call that is carried out: leases, deadlines, consent, keys."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from agent import (
    Approve,
    Interrupted,
    Rejected,
    ToolContext,
    tool,
)
from agent.engine.guard import LeaseGuard
from agent.errors import KeyReused
from agent.rules.events import CallJudged, CallStarted, Stamped
from agent.tools.declare import Tool
from tests.agent.engine.bench import ALICE, OPERATOR, TERM, bench, calls, says
from tests.agent.engine.crashing import HookedJournal, StoreWith


async def test_an_effect_is_not_begun_with_little_of_the_lease_left(tmp_path: Path) -> None:
    begun: list[int] = []
    now = 0.0

    @tool(approval=False)
    def act() -> None:
        """Do it."""
        begun.append(1)

    def spend(events: Sequence[Stamped]) -> None:
        nonlocal now
        if isinstance(events[0].event, CallJudged):
            now = 25.0

    async with bench(tmp_path, [act], [calls(("act", "{}")), says("ok")]) as b:
        await b.start()
        (lease,) = await b.store.run_leases.claim("p", TERM, 1)
        guard = LeaseGuard(lease, TERM, monotonic=lambda: now)
        store = StoreWith(b.store, HookedJournal(b.store.journal, before_intend=spend))
        working = asyncio.create_task(
            replace(b.engine, store=store).advance(guard, asyncio.Event())
        )
        await asyncio.wait([working], timeout=0.3)
        assert begun == []
        guard.renew(lease, asked_at=now)
        await working
        assert begun == [1]


async def test_no_more_than_eight_calls_of_a_run_are_carried_out_at_a_time(tmp_path: Path) -> None:
    at_work, most, release = 0, 0, asyncio.Event()

    @tool(approval=False, effect="read")
    async def look(n: int) -> int:
        """Look."""
        nonlocal at_work, most
        at_work += 1
        most = max(most, at_work)
        if at_work == 8:
            # Behind every call that has been launched by now.
            asyncio.get_running_loop().call_soon(release.set)
        await release.wait()
        at_work -= 1
        return n

    batch = calls(*(("look", f'{{"n": {n}}}') for n in range(20)))
    async with bench(tmp_path, [look], [batch, says("ok")]) as b:
        state = await b.play()
        assert (state.answer, most, len(state.calls)) == ("ok", 8, 20)


async def test_a_call_and_a_reply_say_what_they_were_begun_with(tmp_path: Path) -> None:
    @tool(approval=False, timeout=7)
    def act() -> None:
        """Do it."""

    async with bench(tmp_path, [act], [calls(("act", "{}")), says("ok")]) as b:
        state = await b.play()
        journal = await b.store.journal.read(state.run_id)
        (started,) = [r for r in journal if isinstance(r.event, CallStarted)]
        assert isinstance(started.event, CallStarted)
        assert started.event.deadline == b.clock.now() + timedelta(seconds=12)
        assert [reply.asked_at for reply in state.replies] == [1, started.seq + 1]


async def test_a_tool_that_has_changed_since_the_yes_is_asked_again(tmp_path: Path) -> None:
    done: list[str] = []

    def declare(*, is_new: bool) -> Tool:
        def act(n: int) -> None:
            """Do it."""
            done.append("old")

        def changed(n: int, force: bool = True) -> None:
            """Do it."""
            done.append("new")

        changed.__name__ = "act"
        return tool(approval=True)(changed if is_new else act)

    script = [calls(("act", '{"n": 1}')), says("ok")]
    async with bench(tmp_path, [declare(is_new=False)], script) as b:
        state = await b.play()
        await b.runtime.decide(state.open_approvals[0].id, Approve(), OPERATOR)
        clock = b.clock
    async with bench(tmp_path, [declare(is_new=True)], script, clock=clock) as b:
        await b.work()
        (again,) = (await b.runtime.state(state.run_id)).open_approvals
        assert done == []
        assert again.requested.args == {"n": 1, "force": True}
        await b.runtime.decide(again.id, Approve(), OPERATOR)
        await b.work()
        assert done == ["new"]


async def test_a_key_with_other_words_finds_no_run(tmp_path: Path) -> None:
    async with bench(tmp_path, [], [says("ok")]) as b:
        run_id = await b.runtime.start("refund ORD-1", requester=ALICE, key="k")
        with pytest.raises(KeyReused) as caught:
            await b.runtime.start("refund ORD-2", requester=ALICE, key="k")
        assert caught.value.run_id == run_id


async def test_an_effect_does_not_begin_after_its_own_deadline(tmp_path: Path) -> None:
    sent: list[int] = []

    @tool(approval=False, reconcile=lambda _: Rejected("not found"), timeout=1)
    async def send(context: ToolContext) -> str:
        """Send."""
        sent.append(context.attempt)
        return "sent"

    async with bench(tmp_path, [send], [calls(("send", "{}")), says("done")]) as b:

        def stall(events: Sequence[Stamped]) -> None:
            # The write lock was held for that long, or the host was paused.
            if isinstance(events[0].event, CallStarted):
                b.clock.advance(timedelta(seconds=31))

        run_id = await b.start()
        store = StoreWith(b.store, HookedJournal(b.store.journal, before_intend=stall))
        await replace(b.engine, store=store).advance(await b.claim(), asyncio.Event())
        assert sent == []
        (call,) = (await b.runtime.state(run_id)).calls.values()
        assert call.receipt is not None
        assert call.receipt.status == "rejected"


async def test_a_later_attempt_that_is_not_begun_says_nothing_of_the_first(tmp_path: Path) -> None:
    ledger: list[int] = []

    @tool(approval=False, effect="idempotent", timeout=5)
    async def pay(context: ToolContext) -> str:
        """Pay, once an operation id."""
        if not ledger:
            ledger.append(context.attempt)
            raise Interrupted  # As a crash after the effect.
        return "paid"

    script = [calls(("pay", "{}")), says("done")]
    async with bench(tmp_path, [pay], script) as b:
        state = await b.play()
        b.clock.advance(timedelta(seconds=61))
        stalls = iter([11])

        def stall(events: Sequence[Stamped]) -> None:
            if isinstance(events[0].event, CallStarted):
                b.clock.advance(timedelta(seconds=next(stalls, 0)))

        store = StoreWith(b.store, HookedJournal(b.store.journal, before_intend=stall))
        guard = await b.claim()
        await replace(b.engine, store=store).advance(guard, asyncio.Event())
        state = await b.runtime.state(state.run_id)
        (call,) = state.calls.values()
        assert (state.answer, call.attempts, ledger) == ("done", 3, [1])
        assert call.receipt is not None
        assert call.receipt.status == "committed"
