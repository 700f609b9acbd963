"""A bench for engine tests: one store in a file, agents of the test's own, work done by hand."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TypeVar

from agent import Agent, Policy, Runtime, ScriptedModel, Toolbox
from agent.engine.advance import Engine
from agent.engine.agents import CodeDecider
from agent.engine.guard import LeaseGuard
from agent.engine.new_ids import UuidIds
from agent.ports import ModelCall, ModelReply, ModelRequest, Store
from agent.rules.budgets import Budget
from agent.rules.decisions import Decider
from agent.rules.events import Event
from agent.rules.ids import EventId, Principal, RunId
from agent.rules.recorded import Stamped
from agent.rules.state import RunState
from agent.tools.declare import Tool
from store import open_store
from tests.agent.engine.clock import SteppedClock
from tests.agent.engine.strict import StrictModel
from tests.store.files import with_tables

T = TypeVar("T")

TERM = timedelta(seconds=30)
ALICE = Principal("slack:T0PILOT:U0ALICE")
OPERATOR = Decider(Principal("cli:test"), authority="operator")


def says(text: str) -> ModelReply:
    return ModelReply(text=text)


def calls(*wanted: tuple[str, str]) -> ModelReply:
    """A reply that proposes these tools with this text for arguments; all under one model id."""
    return ModelReply(calls=tuple(ModelCall("same-id", tool, text) for tool, text in wanted))


class InTurn:
    """A model of a whole conversation: it gives its replies one after the other, in whatever run."""

    name = "in turn"

    def __init__(self, *replies: ModelReply | Exception) -> None:
        self._left = list(replies)
        self.requests: list[ModelRequest] = []

    async def reply(self, request: ModelRequest) -> ModelReply:
        self.requests.append(request)
        reply = self._left.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return reply


async def until(look: Callable[[], Awaitable[T]]) -> T:
    """Look again and again; the first answer that is something."""
    async with asyncio.timeout(10):
        # Nothing tells when another task has come so far.
        while not (found := await look()):  # noqa: ASYNC110
            await asyncio.sleep(0.005)
        return found


@dataclass
class Bench:
    """One process on one store."""

    store: Store
    clock: SteppedClock
    runtime: Runtime
    engine: Engine
    model: ScriptedModel

    async def start(self, prompt: str = "go") -> RunId:
        return await self.runtime.start(prompt, requester=ALICE)

    async def claim(self) -> LeaseGuard:
        """The run that is due, for a test that advances it by hand."""
        (lease,) = await self.store.run_leases.claim("p", TERM, 1)
        return LeaseGuard(lease, TERM)

    def stamp(self, event: Event) -> Stamped:
        return Stamped(EventId(UuidIds().event()), self.clock.now(), event)

    async def work(self) -> None:
        """Advance whatever is due until nothing is."""
        while leases := await self.store.run_leases.claim("p", TERM, 10):
            for lease in leases:
                await self.engine.advance(LeaseGuard(lease, TERM), asyncio.Event())

    async def play(self, prompt: str = "go") -> RunState:
        run_id = await self.start(prompt)
        await self.work()
        return await self.runtime.state(run_id)


@asynccontextmanager
async def bench(
    folder: Path,
    tools: Sequence[Tool],
    replies: Sequence[ModelReply | Exception],
    policy: Policy | None = None,
    clock: SteppedClock | None = None,
    decider: CodeDecider | None = None,
    budget: Budget | None = None,
) -> AsyncIterator[Bench]:
    clock = clock or SteppedClock()
    store = await open_store(with_tables(folder / "runs.db"), clock=clock)
    model = ScriptedModel(replies)
    toolbox, policy = Toolbox(tools), policy or Policy()
    agent = Agent("tester", StrictModel(model), toolbox, policy, decider=decider, budget=budget)
    try:
        engine = Engine(store, {agent.name: agent}, UuidIds())
        yield Bench(store, clock, Runtime([agent], store), engine, model)
    finally:
        await store.close()
