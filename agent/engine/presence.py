"""Being known to be alive: others see it, and take over at once what a dead one held."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from datetime import timedelta

from agent.engine.advance import Engine
from agent.engine.agents import Agent
from agent.errors import StoreError
from agent.ports import Process, Store
from agent.rules.state import RunState

BEAT_SECONDS = 10.0
#: A heartbeat younger than this belongs to a process that is alive.
ALIVE_FOR = timedelta(seconds=30)


def tools_needed(state: RunState) -> tuple[str, ...]:
    """The tools without which nobody can take the run on, in order: those of its open calls, but for
    calls that have not been judged: these are, by the tools that there are. A run that is to end needs
    none: what can't be looked up is left open."""
    if state.stop is not None and not state.is_ended:
        return ()
    return tuple(dict.fromkeys(call.tool for call in state.open_calls if call.status != "proposed"))


async def workers_of(store: Store, agent: str) -> list[Process]:
    """The live processes that work runs of this agent, whatever tools it has there."""
    alive = await store.processes.alive(ALIVE_FOR)
    return [one for one in alive if one.does_work and agent in one.agents]


async def is_worked(store: Store, state: RunState) -> bool:
    """Is there a live process that can take this run on: one that works its agent's runs, or holds
    this very run, and has the tools that its open calls need?"""
    needed = tools_needed(state)
    alive = [
        one
        for one in await store.processes.alive(ALIVE_FOR)
        if one.can_take_on(state.agent, needed, state.form)
    ]
    if any(one.does_work for one in alive):
        return True
    row = await store.lists.run(state.run_id) if alive else None
    return row is not None and any(one.process_id == row.holder for one in alive)


def process_of(
    agents: Mapping[str, Agent], process_id: str, build: str, *, does_work: bool, draws: bool
) -> Process:
    """A process with these agents, as the others see it."""
    tools = {name: tuple(tool.name for tool in agent.toolbox) for name, agent in agents.items()}
    return Process(process_id, build, tuple(agents), does_work, draws, tools)


@asynccontextmanager
async def present(engine: Engine, *, does_work: bool, build: str) -> AsyncIterator[str]:
    """Alive on the engine's store, under the process id that this gives, until the block ends.

    ``does_work``: may others leave due runs to us?"""
    processes, process_id = engine.store.processes, engine.ids.new("hand")
    await processes.bury_dead()
    await processes.join(
        process_of(engine.agents, process_id, build, does_work=does_work, draws=False)
    )
    beating = asyncio.create_task(_keep_beating(engine.store, process_id), name="heartbeat")
    try:
        yield process_id
    finally:
        beating.cancel()
        await asyncio.gather(beating, return_exceptions=True)
        await processes.leave(process_id)


async def _keep_beating(store: Store, process_id: str) -> None:
    while True:
        with suppress(StoreError):
            await store.processes.beat(process_id)
        await asyncio.sleep(BEAT_SECONDS)
