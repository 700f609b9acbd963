"""What goes into the journal together, and what waits for the next commit."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from agent import Approve, Interrupted, ToolContext, tool
from agent.engine.advance import READ_WAITS
from agent.ports import ModelReply, ModelRequest
from agent.rules.parts import Effect
from agent.rules.recorded import Stamped
from agent.tools.declare import Tool
from tests.agent.engine.bench import OPERATOR, TERM, Bench, bench, calls, says, until
from tests.agent.engine.crashing import HookedJournal, StoreWith


def tool_of(effect: Effect) -> Tool:
    @tool(approval=False, effect=effect)
    def act(context: ToolContext, n: int = 0) -> int:
        """Do it."""
        return n

    return act


class Commits:
    """The kinds of the events of each append, in order."""

    def __init__(self) -> None:
        self.kinds: list[list[str]] = []

    def note(self, events: Sequence[Stamped]) -> None:
        self.kinds.append([one.event.kind for one in events])

    def of(self, b: Bench) -> Bench:
        journal = HookedJournal(
            b.store.journal, before_intend=self.note, before_record_of=self.note
        )
        return replace(b, engine=replace(b.engine, store=StoreWith(b.store, journal)))


@pytest.mark.parametrize(("effect", "appends"), [("read", 3), ("once", 5)])
async def test_a_step_with_a_read_is_one_commit_and_with_an_effect_two(
    effect: Effect, appends: int, tmp_path: Path
) -> None:
    commits = Commits()
    script = [calls(("act", "{}")), calls(("act", "{}")), says("ok")]
    async with bench(tmp_path, [tool_of(effect)], script) as b:
        state = await commits.of(b).play()
    assert state.answer == "ok"
    assert len(commits.kinds) == appends, commits.kinds
    begun = ["model_replied", "call_judged", "call_started"]
    middle = ["call_returned", *begun] if effect == "read" else begun
    assert middle in commits.kinds


async def test_a_gated_call_is_asked_in_the_commit_of_the_reply_that_proposed_it(
    tmp_path: Path,
) -> None:
    commits = Commits()

    @tool(approval=True)
    def pay() -> None:
        """Pay."""

    async with bench(tmp_path, [pay], [calls(("pay", "{}")), says("ok")]) as b:
        watched = commits.of(b)
        await watched.start()
        await watched.work()
        assert commits.kinds == [["model_replied", "call_judged", "approval_requested"]]
        [(approval, _)] = await b.runtime.approvals()
        await b.runtime.decide(approval.id, Approve(), OPERATOR)
        await watched.work()
        assert commits.kinds[1:] == [
            ["call_started"],
            ["call_returned"],
            ["model_replied", "run_finished"],
        ]


async def test_the_result_of_a_read_does_not_wait_for_a_slow_model(tmp_path: Path) -> None:
    release = asyncio.Event()

    class SlowModel:
        name = "slow"

        async def reply(self, request: ModelRequest) -> ModelReply:
            if len(request.messages) == 1:
                return calls(("act", "{}"))
            await release.wait()
            return says("ok")

    async with bench(tmp_path, [tool_of("read")], []) as b:
        [agent] = b.engine.agents.values()
        slow = replace(agent, model=SlowModel())
        engine = replace(b.engine, agents={agent.name: slow})
        run_id = await b.start()
        working = asyncio.create_task(engine.advance(await b.claim(), asyncio.Event()))
        async with asyncio.timeout(20 * READ_WAITS):
            async for one in b.runtime.stream(run_id):
                if one.event.kind == "call_returned":
                    break
        release.set()
        await working
        assert (await b.runtime.state(run_id)).answer == "ok"


async def test_a_read_whose_result_was_not_recorded_is_run_again(tmp_path: Path) -> None:
    runs: list[int] = []

    @tool(approval=False, effect="read")
    def look() -> int:
        """Look."""
        runs.append(1)
        return len(runs)

    async with bench(tmp_path, [look], [calls(("look", "{}")), says("ok")]) as b:
        run_id = await b.start()

        def die(events: Sequence[Stamped]) -> None:
            if events[0].event.kind == "call_returned":
                raise KeyboardInterrupt

        journal = HookedJournal(b.store.journal, before_intend=die)
        dying = replace(b.engine, store=StoreWith(b.store, journal))
        with pytest.raises(KeyboardInterrupt):
            await dying.advance(await b.claim(), asyncio.Event())
        b.clock.advance(TERM * 2)
        await b.work()
        state = await b.runtime.state(run_id)
        [call] = state.calls.values()
        assert (len(runs), call.attempts, state.answer) == (2, 2, "ok")
        assert call.result is not None
        assert call.result.output == 2


async def test_a_decision_between_the_plan_and_its_commit_loses_no_reply(tmp_path: Path) -> None:
    """The journal moves while the model's reply is on its way into it: the reply is recorded behind,
    and what follows from it is planned anew."""
    release = asyncio.Event()

    @tool(approval=True)
    def pay() -> None:
        """Pay."""

    @tool(approval=False)
    async def send() -> None:
        """Send."""
        await release.wait()

    script = [calls(("pay", "{}"), ("send", "{}")), says("ok")]
    async with bench(tmp_path, [pay, send], script) as b:
        run_id = await b.start()
        working = asyncio.create_task(b.engine.advance(await b.claim(), asyncio.Event()))
        [asked] = await until(lambda: b.runtime.approvals())
        await b.runtime.decide(asked[0].id, Approve(), OPERATOR)

        async def is_paid() -> bool:
            return (await b.runtime.state(run_id)).open_calls[0].tool != "pay"

        await until(is_paid)
        release.set()
        await working
        assert (await b.runtime.state(run_id)).answer == "ok"


async def test_an_interrupted_call_leaves_its_siblings_their_results(tmp_path: Path) -> None:
    @tool(approval=False, effect="idempotent")
    def stuck(context: ToolContext) -> None:
        """Never heard of."""
        raise Interrupted("the line went dead")

    script = [calls(("stuck", "{}"), ("act", '{"n": 7}')), says("ok")]
    async with bench(tmp_path, [stuck, tool_of("read")], script) as b:
        run_id = await b.start()
        await b.work()
        found = (await b.runtime.state(run_id)).calls.values()
        results = {call.tool: call.result and call.result.output for call in found}
        assert results == {"stuck": None, "act": 7}
