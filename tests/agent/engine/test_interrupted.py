"""What is interrupted, and what comes of it after the restart: the table of the architecture, a test a
row. After each interruption nothing is left of the old process but the database and the world outside."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path

import pytest

from agent import Approve, Committed, Policy, Rejected, Rule, ToolContext, tool
from agent.errors import LeaseLost, UnknownEvent
from agent.ports import ModelReply, ModelRequest
from agent.rules import recorded as envelopes
from agent.rules.recorded import Stamped
from agent.rules.transcript import AssistantMessage
from agent.tools.declare import Tool
from tests.agent.engine.bench import OPERATOR, Bench, bench, calls, says
from tests.agent.engine.clock import SteppedClock
from tests.agent.engine.crashing import Crash, HookedJournal, StoreWith

SCRIPT = [calls(("pay", '{"amount": 5}')), says("done")]
LONG = timedelta(minutes=5)


@dataclass
class Bank:
    """The world outside: what was sent, by operation id, and whether it can be asked."""

    sent: list[str] = field(default_factory=list)
    can_say: bool = True

    def tool(self, *, approval: bool = False) -> Tool:
        def reconcile(operation_id: str) -> Committed | Rejected | None:
            if not self.can_say:
                return None
            return Committed("paid") if operation_id in self.sent else Rejected("not found")

        @tool(approval=approval, reconcile=reconcile)
        def pay(amount: int, context: ToolContext) -> str:
            """Pay."""
            self.sent.append(context.operation_id)
            return "paid"

        return pay


def dies(kind: str) -> Callable[[Sequence[Stamped]], None]:
    def die(events: Sequence[Stamped]) -> None:
        if any(one.event.kind == kind for one in events):
            raise Crash

    return die


async def crash(b: Bench, journal: HookedJournal) -> None:
    """Work what is due in a process whose journal kills it."""
    engine = replace(b.engine, store=StoreWith(b.store, journal))
    with pytest.raises(Crash):
        await engine.advance(await b.claim(), asyncio.Event())


async def test_before_a_call_was_started_it_is_sent_once(tmp_path: Path) -> None:
    bank, clock = Bank(), SteppedClock()
    async with bench(tmp_path, [bank.tool()], SCRIPT, clock=clock) as b:
        run_id = await b.start()
        await crash(b, HookedJournal(b.store.journal, before_intend=dies("call_started")))
        assert bank.sent == []
    clock.advance(LONG)
    async with bench(tmp_path, [bank.tool()], SCRIPT, clock=clock) as b:
        await b.work()
        assert (len(bank.sent), (await b.runtime.state(run_id)).answer) == (1, "done")


async def test_after_the_tool_confirmed_the_receipt_is_used_and_nothing_is_sent(
    tmp_path: Path,
) -> None:
    bank, clock = Bank(), SteppedClock()
    async with bench(tmp_path, [bank.tool()], SCRIPT, clock=clock) as b:
        run_id = await b.start()
        await crash(b, HookedJournal(b.store.journal, before_intend=dies("run_finished")))
        assert len(bank.sent) == 1
    clock.advance(LONG)
    async with bench(tmp_path, [bank.tool()], SCRIPT, clock=clock) as b:
        await b.work()
        state = await b.runtime.state(run_id)
        [call] = state.calls.values()
        assert (len(bank.sent), call.attempts, state.answer) == (1, 1, "done")


@pytest.mark.parametrize("was_sent", [True, False])
async def test_started_without_a_receipt_the_effect_is_looked_up_before_anything_is_decided(
    was_sent: bool, tmp_path: Path
) -> None:
    bank, clock = Bank(), SteppedClock()
    async with bench(tmp_path, [bank.tool()], SCRIPT, clock=clock) as b:
        run_id = await b.start()
        if was_sent:
            journal = HookedJournal(b.store.journal, before_record_of=dies("call_returned"))
        else:
            journal = HookedJournal(b.store.journal, after_intend=dies("call_started"))
        await crash(b, journal)
        assert len(bank.sent) == was_sent
    clock.advance(LONG)
    async with bench(tmp_path, [bank.tool()], SCRIPT, clock=clock) as b:
        await b.work()
        state = await b.runtime.state(run_id)
        [call] = state.calls.values()
        assert call.receipt is not None
        assert (call.receipt.status, state.answer) == ("committed", "done")
        assert bank.sent == [call.operation_id], "once, whichever way it went"


async def test_started_without_a_receipt_and_nobody_can_say_so_a_person_is_asked(
    tmp_path: Path,
) -> None:
    bank, clock = Bank(can_say=False), SteppedClock()
    async with bench(tmp_path, [bank.tool()], SCRIPT, clock=clock) as b:
        await b.start()
        await crash(b, HookedJournal(b.store.journal, after_intend=dies("call_started")))
    clock.advance(LONG)
    async with bench(tmp_path, [bank.tool()], SCRIPT, clock=clock) as b:
        await b.work()
        [(review, _)] = await b.runtime.approvals()
        assert (review.kind, bank.sent) == ("review", [])


async def test_while_waiting_it_is_the_same_approval_and_its_input_is_checked_again(
    tmp_path: Path,
) -> None:
    bank, clock = Bank(), SteppedClock()
    async with bench(tmp_path, [bank.tool(approval=True)], SCRIPT, clock=clock) as b:
        run_id = await b.start()
        await b.work()
        [(before, _)] = await b.runtime.approvals()
    clock.advance(LONG)
    refusing = Policy(rules=(Rule(tool="pay", when="args.amount < 5", action="allow"),))
    async with bench(tmp_path, [bank.tool(approval=True)], SCRIPT, refusing, clock) as b:
        await b.work()
        [(after, _)] = await b.runtime.approvals()
        assert after.requested == before.requested
        await b.runtime.decide(after.id, Approve(), OPERATOR)
        await b.work()
        assert (len(bank.sent), (await b.runtime.state(run_id)).answer) == (1, "done")


async def test_what_a_newer_version_wrote_blocks_the_run_until_that_version_is_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bank, clock = Bank(), SteppedClock()
    async with bench(tmp_path, [bank.tool(approval=True)], SCRIPT, clock=clock) as b:
        run_id = await b.start()
        await b.work()
        [(approval, _)] = await b.runtime.approvals()
        await b.runtime.decide(approval.id, Approve(), OPERATOR)
        # A build of before did not know decisions.
        with monkeypatch.context() as patch:
            patch.setitem(envelopes._VERSIONS, "approval_decided", 0)
            guard = await b.claim()
            with pytest.raises(UnknownEvent):
                await b.engine.advance(guard, asyncio.Event())
            assert bank.sent == []
            await b.store.run_leases.defer(guard.lease, until=clock.now())
        await b.work()
        assert (len(bank.sent), (await b.runtime.state(run_id)).answer) == (1, "done")


async def test_two_workers_resume_and_one_holds_the_lease(tmp_path: Path) -> None:
    bank, clock = Bank(), SteppedClock()
    async with bench(tmp_path, [bank.tool()], SCRIPT, clock=clock) as b:
        run_id = await b.start()
        first = await b.claim()
        assert await b.store.run_leases.claim("other", LONG, 1) == []
        clock.advance(LONG)
        await b.work()
        with pytest.raises(LeaseLost):
            await b.engine.advance(first, asyncio.Event())
        assert (len(bank.sent), (await b.runtime.state(run_id)).answer) == (1, "done")


async def test_a_decision_was_stored_its_process_died_and_any_worker_goes_on(
    tmp_path: Path,
) -> None:
    bank, clock = Bank(), SteppedClock()
    async with bench(tmp_path, [bank.tool(approval=True)], SCRIPT, clock=clock) as b:
        run_id = await b.start()
        await b.work()
        [(approval, _)] = await b.runtime.approvals()
        journal = HookedJournal(b.store.journal, after_intend=dies("approval_decided"))
        dying = type(b.runtime)(b.engine.agents.values(), StoreWith(b.store, journal))
        with pytest.raises(Crash):
            await dying.decide(approval.id, Approve(), OPERATOR)
    async with bench(tmp_path, [bank.tool(approval=True)], SCRIPT, clock=clock) as b:
        await b.work()
        assert (len(bank.sent), (await b.runtime.state(run_id)).answer) == (1, "done")


async def test_the_model_answers_differently_after_the_restart_and_nothing_depends_on_it(
    tmp_path: Path,
) -> None:
    class Fickle:
        """Wants another amount, and says something else, each time that it is asked."""

        name = "fickle"
        asked = 0

        async def reply(self, request: ModelRequest) -> ModelReply:
            type(self).asked += 1
            if any(isinstance(message, AssistantMessage) for message in request.messages):
                return says(f"done, {self.asked}")
            return calls(("pay", f'{{"amount": {self.asked}}}'))

    bank, clock = Bank(), SteppedClock()

    def fickle(b: Bench) -> Bench:
        [agent] = b.engine.agents.values()
        agents = {agent.name: replace(agent, model=Fickle())}
        return replace(b, engine=replace(b.engine, agents=agents))

    async with bench(tmp_path, [bank.tool()], [], clock=clock) as b:
        run_id = await b.start()
        await crash(fickle(b), HookedJournal(b.store.journal, before_intend=dies("run_finished")))
    clock.advance(LONG)
    async with bench(tmp_path, [bank.tool()], [], clock=clock) as b:
        await fickle(b).work()
        state = await b.runtime.state(run_id)
        [call] = state.calls.values()
        assert call.args == {"amount": 1}, "the first answer is in the journal, and holds"
        assert (len(bank.sent), state.answer) == (1, "done, 3")
