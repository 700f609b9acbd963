"""Several processes on one store, each with handles and agents of its own."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from agent import Agent, Policy, Runtime, ScriptedModel, Toolbox
from agent.ports import Directory, Model, ModelReply, Process
from agent.rules.ids import RunId
from agent.tools.declare import Tool
from store import SqlStore, open_store
from tests.agent.engine.bench import ALICE, TERM
from tests.agent.engine.clock import SteppedClock
from tests.agent.engine.strict import StrictModel


@dataclass
class Replicas:
    """All of them; ``clock`` is the store's."""

    url: str
    clock: SteppedClock
    stores: list[SqlStore] = field(default_factory=list)

    async def open(self) -> SqlStore:
        """One more process's handle on the store."""
        self.stores.append(await open_store(self.url, clock=self.clock))
        return self.stores[-1]

    async def runtime(
        self,
        tools: Sequence[Tool] = (),
        replies: Sequence[ModelReply | Exception] = (),
        *,
        model: Model | None = None,
        policy: Policy | None = None,
        directory: Directory | None = None,
    ) -> Runtime:
        """One more process."""
        strict = StrictModel(model or ScriptedModel(replies))
        agent = Agent("tester", strict, Toolbox(tools), policy or Policy())
        return Runtime([agent], await self.open(), directory=directory)

    async def die_holding(self, name: str = "gone", limit: int = 1) -> list[RunId]:
        """A process that claims what is due and dies at once; what it held."""
        store = await self.open()
        await store.processes.join(Process(name, "test", ("tester",), True, False))
        held = await store.run_leases.claim(name, TERM, limit)
        await store.close()
        return [lease.run_id for lease in held]

    async def close(self) -> None:
        for store in self.stores:
            await store.close()


@asynccontextmanager
async def replicas(url: str) -> AsyncIterator[Replicas]:
    several = Replicas(url, SteppedClock())
    try:
        yield several
    finally:
        await several.close()


async def begin(runtime: Runtime, prompt: str = "go") -> RunId:
    return await runtime.start(prompt, requester=ALICE)
