"""A crash at every append of a run that has everything: siblings, a preview, a quorum, a steer, an
effect that is looked up, a question; with a model that words each answer anew after a restart."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import pytest

from agent import (
    Agent,
    Answer,
    Approve,
    Committed,
    Decider,
    ModelReply,
    Policy,
    Principal,
    Rejected,
    Runtime,
    Steer,
    Toolbox,
    ToolContext,
    ask_user,
    tool,
)
from agent.engine.advance import Engine
from agent.engine.guard import LeaseGuard
from agent.engine.new_ids import UuidIds
from agent.errors import AlreadyDecided
from agent.ports import ModelRequest
from agent.rules.decisions import Decision
from agent.rules.fold import fold
from agent.rules.ids import RunId
from agent.rules.recorded import Recorded
from agent.rules.state import Approval
from agent.rules.transcript import AssistantMessage
from agent.tools.declare import Tool
from store import open_store
from tests.agent.engine.bench import ALICE, calls, says
from tests.agent.engine.clock import SteppedClock
from tests.agent.engine.crashing import Crash, CrashingJournal, Fuse, StoreWith, When
from tests.agent.engine.strict import StrictModel
from tests.databases import POSTGRES, SQLITE, NewDatabase
from tests.examples import every

TERM = timedelta(seconds=30)
BOB = Decider(Principal("slack:T0PILOT:U0BOB"), user="U0BOB", groups=frozenset({"S0FINANCE"}))
CAROL = Decider(Principal("slack:T0PILOT:U0CAROL"), user="U0CAROL", groups=frozenset({"S0LEGAL"}))
ASKER = Decider(ALICE, user="U0ALICE")
POLICY = Policy.model_validate(
    {
        "owners": {"users": ["U0BOB"]},
        "rules": [
            {"tool": "pay", "action": "ask", "one_from_each": ["S0FINANCE", "S0LEGAL"]},
            {"tool": "send", "action": "ask", "when": "args.words != 'kind'"},
            {"tool": "send", "action": "allow"},
        ],
    }
)
_WORDINGS = itertools.count()


@dataclass
class Outside:
    """What the world outside has seen, by operation id; it survives every crash."""

    folder: Path

    def effects(self) -> list[str]:
        path = self.folder / "effects"
        return path.read_text().splitlines() if path.exists() else []

    def act(self, what: str, operation_id: str) -> None:
        done = [json.loads(line) for line in self.effects()]
        if [what, operation_id] in done and what != "send":
            return  # An outside system that honours the operation id.
        with (self.folder / "effects").open("a") as effects:
            effects.write(json.dumps([what, operation_id]) + "\n")

    def tools(self) -> list[Tool]:
        def look_for(operation_id: str) -> Committed | Rejected:
            is_there = any(json.loads(line)[1] == operation_id for line in self.effects())
            return Committed("sent") if is_there else Rejected("not found")

        @tool(approval=False, effect="read")
        def look() -> str:
            """Look."""
            return "seen"

        @tool(effect="idempotent", preview=lambda amount: f"pays {amount}")
        def pay(amount: int, context: ToolContext) -> str:
            """Pay."""
            self.act("pay", context.operation_id)
            return "paid"

        @tool(effect="once", reconcile=look_for)
        def send(words: str, context: ToolContext) -> str:
            """Send."""
            self.act("send", context.operation_id)
            return "sent"

        return [look, pay, send, ask_user]


class NewWords:
    """Proposes the same calls, and words what it says anew each time that it is asked."""

    name = "new-words"

    async def reply(self, request: ModelRequest) -> ModelReply:
        answered = sum(isinstance(message, AssistantMessage) for message in request.messages)
        proposed = (
            calls(("look", "{}"), ("pay", '{"amount": 5}'), ("send", '{"words": "rude"}')),
            calls(("ask_user", '{"question": "Well?", "options": ["yes", "no"]}')),
        )
        if answered < len(proposed):
            return ModelReply(text=f"try {next(_WORDINGS)}", calls=proposed[answered].calls)
        return says("done")


@dataclass
class World:
    url: str
    folder: Path
    fuse: Fuse
    clock: SteppedClock = field(default_factory=SteppedClock)

    @asynccontextmanager
    async def process(self) -> AsyncIterator[tuple[Runtime, Engine]]:
        opened = await open_store(self.url, clock=self.clock)
        store = StoreWith(opened, CrashingJournal(opened.journal, self.fuse))
        tools = Toolbox(Outside(self.folder).tools())
        agent = Agent("busy", StrictModel(NewWords()), tools, POLICY)
        try:
            yield Runtime([agent], store), Engine(store, {agent.name: agent}, UuidIds())
        finally:
            await opened.close()

    async def survive(self, work: Callable[[Runtime, Engine], Awaitable[None]]) -> None:
        while True:
            try:
                async with self.process() as (runtime, engine):
                    await work(runtime, engine)
                    return
            except Crash:
                self.clock.advance(timedelta(minutes=3))


async def work(runtime: Runtime, engine: Engine) -> None:
    while leases := await engine.store.run_leases.claim("p", TERM, 10):
        for lease in leases:
            await engine.advance(LeaseGuard(lease, TERM), asyncio.Event())


def decide(
    which: Callable[[Approval], bool], decision: Decision, by: Decider
) -> Callable[[Runtime, Engine], Awaitable[None]]:
    async def act(runtime: Runtime, engine: Engine) -> None:
        found = await runtime.approvals(waiting_only=False)
        [approval] = [one for one, _ in found if which(one)]
        # Where its commit was made before the crash, this is the second time.
        with suppress(AlreadyDecided):
            await runtime.decide(approval.id, decision, by)

    return act


def of_tool(name: str) -> Callable[[Approval], bool]:
    return lambda approval: approval.requested.tool == name


async def play(world: World) -> list[Recorded]:
    run_ids: list[RunId] = []

    async def begin(runtime: Runtime, engine: Engine) -> None:
        run_ids.append(await runtime.start("go", requester=ALICE, key="one"))

    story = (
        begin,
        work,
        decide(of_tool("pay"), Approve(), BOB),
        decide(of_tool("send"), Steer({"words": "kind"}), BOB),
        work,
        decide(of_tool("pay"), Approve(), CAROL),
        work,
        decide(of_tool("ask_user"), Answer("yes"), ASKER),
        work,
    )
    for act in story:
        await world.survive(act)
    histories: list[list[Recorded]] = []

    async def look(runtime: Runtime, engine: Engine) -> None:
        histories.append(await runtime.store.journal.read(run_ids[-1]))

    await world.survive(look)
    return histories[-1]


# A server takes its time to be opened again and again: there each third point is enough.
BOTH: list[tuple[str, When]] = [(SQLITE, "before"), (SQLITE, "after"), (POSTGRES, "after")]


@pytest.mark.parametrize(("kind", "when"), BOTH, indirect=["kind"])
async def test_whatever_append_a_process_dies_at_each_effect_happens_once(
    kind: str, when: When, new_database: NewDatabase, tmp_path: Path
) -> None:
    for at in range(1, 100, every(3 if kind == POSTGRES else 2)):
        folder = tmp_path / f"{at}"
        folder.mkdir()
        with new_database() as url:
            world = World(url, folder, Fuse(at, when))
            history = await play(world)
        state = fold(history)
        assert state.answer == "done"
        effects = [tuple(json.loads(line)) for line in Outside(world.folder).effects()]
        assert Counter(what for what, _ in effects) == {"pay": 1, "send": 1}
        outcomes = {call.tool: call.result.outcome for call in state.calls.values() if call.result}
        assert outcomes == {"look": "ok", "pay": "ok", "send": "ok", "ask_user": "answered"}
        returned = Counter(
            one.event.call_id for one in history if one.event.kind == "call_returned"
        )
        assert set(returned.values()) == {1}
        if world.fuse.count < at:
            assert at > 10, "the sweep has not met every append of the story"
            return
    raise AssertionError("the story has no end")
