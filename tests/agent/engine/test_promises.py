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
    Deny,
    Interrupted,
    Policy,
    Rejected,
    Rule,
    Toolbox,
    ToolContext,
    tool,
)
from agent.engine.guard import LeaseGuard
from agent.errors import Blocked, KeyReused
from agent.ports import ModelReply, ModelRequest
from agent.rules.events import CallStarted
from agent.rules.recorded import Stamped
from agent.tools.declare import Tool
from tests.agent.engine.bench import ALICE, OPERATOR, TERM, bench, calls, says
from tests.agent.engine.crashing import HookedJournal, StoreWith


async def test_an_effect_is_not_begun_with_little_of_the_lease_left(tmp_path: Path) -> None:
    begun: list[int] = []
    now, asked = 0.0, asyncio.Event()

    @tool(approval=False)
    def act() -> None:
        """Do it."""
        begun.append(1)

    class SlowModel:
        name = "slow"

        async def reply(self, request: ModelRequest) -> ModelReply:
            nonlocal now
            if len(request.messages) > 1:
                return says("ok")
            now = 25.0
            asked.set()
            return calls(("act", "{}"))

    async with bench(tmp_path, [act], []) as b:
        await b.start()
        [agent] = b.engine.agents.values()
        engine = replace(b.engine, agents={agent.name: replace(agent, model=SlowModel())})
        (lease,) = await b.store.run_leases.claim("p", TERM, 1)
        guard = LeaseGuard(lease, TERM, monotonic=lambda: now)
        working = asyncio.create_task(engine.advance(guard, asyncio.Event()))
        await asked.wait()
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
            if any(isinstance(one.event, CallStarted) for one in events):
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


async def test_what_was_denied_is_asked_once_more_and_then_refused_without_a_question(
    tmp_path: Path,
) -> None:
    @tool(approval=True)
    def wipe(disk: str) -> None:
        """Wipe it."""

    again = calls(("wipe", '{"disk": "a"}'))
    other = calls(("wipe", '{"disk": "b"}'))
    async with bench(tmp_path, [wipe], [again, again, again, again, other, says("ok")]) as b:
        run_id = await b.start()
        await b.work()
        asked = []
        while approvals := await b.runtime.approvals():
            [(approval, _)] = approvals
            asked.append(approval.requested.args["disk"])
            await b.runtime.decide(approval.id, Deny("never"), OPERATOR)
            await b.work()
        state = await b.runtime.state(run_id)
        assert asked == ["a", "a", "b"], "other arguments are another question"
        outcomes = [c.result.outcome for c in state.calls.values() if c.result]
        assert outcomes == ["denied", "denied", "refused", "refused", "denied"]
        assert state.answer == "ok"


async def test_a_tool_that_is_gone_blocks_the_run_until_it_is_back(tmp_path: Path) -> None:
    done: list[int] = []

    @tool(approval=True)
    def act() -> None:
        """Do it."""
        done.append(1)

    async with bench(tmp_path, [act], [calls(("act", "{}")), says("ok")]) as b:
        run_id = await b.start()
        await b.work()
        [agent] = b.engine.agents.values()
        without = replace(b.engine, agents={agent.name: replace(agent, toolbox=Toolbox())})
        [(approval, _)] = await b.runtime.approvals()
        await b.runtime.decide(approval.id, Approve(), OPERATOR)
        guard = await b.claim()
        with pytest.raises(Blocked):
            await without.advance(guard, asyncio.Event())
        assert done == []
        await b.store.run_leases.defer(guard.lease, until=b.clock.now())
        await b.work()
        assert (done, (await b.runtime.state(run_id)).answer) == ([1], "ok")


async def test_a_repeated_id_of_the_model_s_inherits_no_decision(tmp_path: Path) -> None:
    done: list[int] = []

    @tool(approval=True)
    def act() -> None:
        """Do it."""
        done.append(1)

    # The bench gives every call the same id of the model's.
    script = [calls(("act", "{}")), calls(("act", "{}")), says("ok")]
    async with bench(tmp_path, [act], script) as b:
        await b.start()
        await b.work()
        [(first, _)] = await b.runtime.approvals()
        await b.runtime.decide(first.id, Approve(), OPERATOR)
        await b.work()
        [(second, _)] = await b.runtime.approvals()
        assert second.id != first.id
        assert done == [1]


async def test_a_yes_that_has_waited_longer_than_it_is_good_for_is_asked_again(
    tmp_path: Path,
) -> None:
    done: list[int] = []

    @tool(approval=True)
    def act() -> None:
        """Do it."""
        done.append(1)

    policy = Policy(rules=(Rule(tool="act", action="ask", valid_for=timedelta(hours=1)),))
    async with bench(tmp_path, [act], [calls(("act", "{}")), says("ok")], policy) as b:
        await b.start()
        await b.work()
        [(first, _)] = await b.runtime.approvals()
        await b.runtime.decide(first.id, Approve(), OPERATOR)
        b.clock.advance(timedelta(hours=2))
        await b.work()
        [(second, _)] = await b.runtime.approvals()
        assert done == []
        assert second.requested.supersedes == first.id
        assert second.requested.again_because
        await b.runtime.decide(second.id, Approve(), OPERATOR)
        await b.work()
        assert done == [1]
