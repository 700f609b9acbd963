"""Kill switches and freeze windows: nothing starts that they keep, in any process, and all of it goes on afterwards."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from agent import Approve, Decider, Policy, Principal, Rule, Runtime, tool
from agent.engine.releasing import release
from agent.errors import AlreadySwitched, MayNotSwitch
from agent.ports import ModelReply
from agent.rules.control import StampedControl, SwitchRefused, SwitchTurned
from agent.rules.events import CallStarted, Event
from agent.rules.freeze import DAYS, FreezeWindow
from agent.rules.ids import EventId, RunId
from agent.rules.interventions import HaltsChanged
from agent.rules.recorded import Stamped
from agent.rules.rule import People, RuleApprovers
from agent.rules.shapes import run_shape
from agent.rules.state import RunState
from agent.tools.declare import Tool
from tests.agent.engine.bench import ALICE, OPERATOR, calls, says
from tests.agent.engine.replicas import Replicas, replicas

BOB = Decider(Principal("slack:T0PILOT:U0BOB"), user="U0BOB")
CAROL = Decider(Principal("slack:T0PILOT:U0CAROL"), user="U0CAROL")
OWNERS = People(users=("U0BOB",))
ASK = Rule(tool="pay", action="ask", approvers=RuleApprovers(users=("U0BOB",)))
FREE = Policy(owners=OWNERS, rules=(Rule(tool="*", action="allow"),))


@dataclass
class Till:
    """What was really done, by all processes."""

    paid: list[int] = field(default_factory=list)
    seen: list[int] = field(default_factory=list)

    @property
    def tools(self) -> list[Tool]:
        @tool
        def pay(amount: int) -> str:
            """Pay."""
            self.paid.append(amount)
            return f"paid {amount}"

        @tool(effect="read")
        def look(amount: int) -> str:
            """Look."""
            self.seen.append(amount)
            return "there"

        return [pay, look]


@pytest.fixture
async def several(url: str) -> AsyncIterator[Replicas]:
    async with replicas(url) as made:
        yield made


@pytest.fixture
def till() -> Till:
    return Till()


def paying(*amounts: int) -> list[ModelReply]:
    return [*(calls(("pay", f'{{"amount": {amount}}}')) for amount in amounts), says("done")]


async def turn(runtime: Runtime, switch: str, is_on: bool) -> None:
    await runtime.switching.turn(switch, BOB, "a drill" if is_on else "", is_on=is_on)


async def begin(runtime: Runtime) -> RunState:
    return await runtime.settle(await runtime.start("go", requester=ALICE))


async def events(runtime: Runtime, run_id: RunId) -> list[Event]:
    return [one.event for one in await runtime.store.journal.read(run_id)]


def waiting_for(runtime: Runtime, state: RunState) -> object:
    return run_shape(state, now=runtime.store.clock.now())["waiting_for"]


@pytest.mark.parametrize("switch", ["all", "agent:tester"])
async def test_nothing_of_a_run_starts_until_it_is_turned_off_by_another_process(
    several: Replicas, till: Till, switch: str
) -> None:
    runtime = await several.runtime(till.tools, paying(5), policy=FREE)
    other = await several.runtime(policy=FREE)
    await turn(other, switch, True)
    state = await begin(runtime)
    assert waiting_for(runtime, state) == "switch"
    assert (till.paid, state.model_calls) == ([], 0)
    (halt,) = state.halts
    assert (halt.switch, halt.by, halt.reason, halt.call_ids) == (
        switch,
        BOB.principal,
        "a drill",
        (),
    )
    await turn(other, switch, False)
    await runtime.recover()
    state = await runtime.state(state.run_id)
    assert (state.ending, till.paid, state.halts) == ("finished", [5], ())


async def test_a_tool_is_switched_off_and_the_other_calls_of_the_run_go_on(
    several: Replicas, till: Till
) -> None:
    both = calls(("pay", '{"amount": 5}'), ("look", '{"amount": 6}'))
    runtime = await several.runtime(till.tools, [both, says("done")], policy=FREE)
    await turn(runtime, "tool:p*", True)
    state = await begin(runtime)
    assert (till.paid, till.seen, waiting_for(runtime, state)) == ([], [6], "switch")
    await turn(runtime, "tool:p*", False)
    await runtime.recover()
    assert (till.paid, (await runtime.state(state.run_id)).ending) == ([5], "finished")


async def test_each_call_goes_on_when_its_own_switch_is_off(several: Replicas, till: Till) -> None:
    """The other switch, and a window, keep the run's other calls as before."""
    two = calls(("pay", '{"amount": 5}'), ("look", '{"amount": 6}'))
    frozen = FREE.model_copy(update={"freeze": (window(several.clock.now(), tools="look"),)})
    runtime = await several.runtime(till.tools, [two, says("done")], policy=frozen)
    for switch in ("tool:look", "tool:pay"):
        await turn(runtime, switch, True)
    state = await begin(runtime)
    await turn(runtime, "tool:pay", False)
    assert await runtime.recover() == [state.run_id]
    assert (till.paid, till.seen) == ([5], [])
    state = await runtime.state(state.run_id)
    assert [halt.switch for halt in state.halts] == ["tool:look", None]
    await turn(runtime, "tool:look", False)
    assert await runtime.recover() == [state.run_id], "it says what keeps it now"
    assert [halt.switch for halt in (await runtime.state(state.run_id)).halts] == [None]
    without = await several.runtime(till.tools, [says("done")], policy=FREE)
    await release(without.store, with_windows=True)
    await without.recover()
    assert till.seen == [6]


async def test_a_window_that_the_file_has_no_more_keeps_nothing_beside_a_switch(
    several: Replicas, till: Till
) -> None:
    two = calls(("pay", '{"amount": 5}'), ("look", '{"amount": 6}'))
    frozen = FREE.model_copy(update={"freeze": (window(several.clock.now(), tools="look"),)})
    runtime = await several.runtime(till.tools, [two, says("done")], policy=frozen)
    await turn(runtime, "tool:pay", True)
    state = await begin(runtime)
    without = await several.runtime(till.tools, [says("done")], policy=FREE)
    await release(without.store, with_windows=True)
    assert await without.recover() == [state.run_id]
    assert (till.paid, till.seen) == ([], [6])


async def test_what_is_approved_meanwhile_starts_once_when_it_is_off(
    several: Replicas, till: Till
) -> None:
    policy = Policy(owners=OWNERS, rules=(ASK,))
    runtime = await several.runtime(till.tools, paying(5), policy=policy)
    state = await begin(runtime)
    await turn(runtime, "all", True)
    approval = state.open_approvals[0]
    state = await runtime.decide(approval.id, Approve(), BOB, wait=True)
    assert (state.approvals[approval.id].status, till.paid) == ("approved", [])
    assert waiting_for(runtime, state) == "switch"
    await turn(runtime, "all", False)
    await runtime.recover()
    assert till.paid == [5]
    started = [e for e in await events(runtime, state.run_id) if isinstance(e, CallStarted)]
    assert len(started) == 1


async def test_a_switch_that_is_turned_right_before_the_start_is_seen(
    several: Replicas, till: Till
) -> None:
    """Between the look at the switches and the commit of the start: the commit is refused, and it is looked again."""
    runtime = await several.runtime(till.tools, paying(5), policy=FREE)
    other = await several.runtime(policy=FREE)
    journal = runtime.store.journal
    intend = journal.intend

    async def late(run_id: RunId, stamped: Sequence[Stamped], **more: Any) -> object:
        if any(isinstance(one.event, CallStarted) for one in stamped) and not turned:
            turned.append(True)
            await turn(other, "all", True)
        return await intend(run_id, stamped, **more)

    turned: list[bool] = []
    object.__setattr__(journal, "intend", late)
    state = await begin(runtime)
    assert turned
    assert (till.paid, waiting_for(runtime, state)) == ([], "switch")


async def test_a_run_goes_on_though_whoever_turned_it_off_ended_at_once(
    several: Replicas, till: Till
) -> None:
    """Nothing but the fact got into the store: those who work look for what is kept no more."""
    runtime = await several.runtime(till.tools, paying(5), policy=FREE)
    await turn(runtime, "all", True)
    state = await begin(runtime)
    off = SwitchTurned(switch="all", is_on=False, by=BOB.principal)
    store = runtime.store
    await store.control.record([StampedControl(EventId("evt_off"), store.clock.now(), off)])
    worker = (await several.runtime(till.tools, paying(5), policy=FREE)).worker()
    working = asyncio.create_task(worker.run())
    async with asyncio.timeout(20):
        while (await runtime.state(state.run_id)).ending is None:
            await store.wakeups.wait(store.wakeups.moves, 0.05)
    await worker.stop()
    await working
    assert till.paid == [5]


async def test_only_owners_and_the_operator_turn_it_and_whoever_else_wants_to_is_recorded(
    several: Replicas,
) -> None:
    runtime = await several.runtime(policy=FREE)
    with pytest.raises(MayNotSwitch):
        await runtime.switching.turn("all", CAROL, "why not", is_on=True)
    with pytest.raises(MayNotSwitch):
        await runtime.switching.turn("all", CAROL, "once more", is_on=True)
    await runtime.switching.turn("all", OPERATOR, "a drill", is_on=True)
    with pytest.raises(AlreadySwitched, match="is on since"):
        await turn(runtime, "all", True)
    with pytest.raises(AlreadySwitched, match="is off"):
        await turn(runtime, "agent:tester", False)
    facts = [one.event for one in await runtime.store.control.read()]
    assert [type(fact) for fact in facts] == [SwitchRefused, SwitchTurned]


def window(now: datetime, **written: object) -> FreezeWindow:
    """Of the day that it is."""
    day = DAYS[now.weekday()]
    fields = {"tools": "pay", "days": [day], "from": "00:00", "to": "24:00", "zone": "UTC"}
    return FreezeWindow.model_validate({**fields, **written})


async def test_a_frozen_call_waits_for_the_end_of_the_window_and_goes_on_by_itself(
    several: Replicas, till: Till
) -> None:
    now = several.clock.now()
    policy = FREE.model_copy(update={"freeze": (window(now, reason="stocktaking"),)})
    runtime = await several.runtime(till.tools, paying(5), policy=policy)
    state = await begin(runtime)
    assert (till.paid, waiting_for(runtime, state)) == ([], "window")
    (halt,) = state.halts
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)
    assert (halt.until, halt.reason) == (midnight, "stocktaking")
    several.clock.advance(midnight - now - timedelta(seconds=1))
    assert await runtime.recover() == [state.run_id], "it is looked once more by who takes over"
    assert till.paid == []
    several.clock.advance(timedelta(seconds=1))
    assert await runtime.recover() == [state.run_id]
    assert (till.paid, (await runtime.state(state.run_id)).ending) == ([5], "finished")


async def test_a_run_that_a_window_kept_goes_on_where_the_file_has_it_no_more(
    several: Replicas, till: Till
) -> None:
    frozen = FREE.model_copy(update={"freeze": (window(several.clock.now()),)})
    before = await several.runtime(till.tools, paying(5), policy=frozen)
    state = await begin(before)
    after = await several.runtime(till.tools, [says("done")], policy=FREE)
    await after.recover()
    assert till.paid == [5]
    changed = [e for e in await events(after, state.run_id) if isinstance(e, HaltsChanged)]
    assert [len(one.halts) for one in changed] == [1, 0]


async def test_a_run_that_is_kept_can_be_stopped(several: Replicas, till: Till) -> None:
    runtime = await several.runtime(till.tools, paying(5), policy=FREE)
    await turn(runtime, "all", True)
    state = await begin(runtime)
    state = await runtime.stop(state.run_id, ALICE, wait=True)
    assert (state.ending, till.paid) == ("cancelled", [])
    assert await runtime.store.control.wake_released(10) == 0


async def test_what_a_run_says_of_it_is_mended_beside_its_journal(
    several: Replicas, till: Till
) -> None:
    runtime = await several.runtime(till.tools, paying(5), policy=FREE)
    await turn(runtime, "all", True)
    state = await begin(runtime)
    halted = replace(state, halts=())
    assert await runtime.store.projections.differences(state) == []
    assert await runtime.store.projections.differences(halted) != []
