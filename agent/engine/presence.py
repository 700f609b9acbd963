"""Being known to be alive: others see it, and take over at once what a dead one held."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import timedelta

from agent.engine.advance import Engine
from agent.errors import StoreError
from agent.ports import Process, Store

BEAT_SECONDS = 10.0
#: A heartbeat younger than this belongs to a process that is alive.
ALIVE_FOR = timedelta(seconds=30)


async def is_worked(store: Store, agent: str) -> bool:
    """Is there a live process that works runs of this agent?"""
    alive = await store.processes.alive(ALIVE_FOR)
    return any(process.does_work and agent in process.agents for process in alive)


@asynccontextmanager
async def present(engine: Engine, *, does_work: bool, build: str) -> AsyncIterator[str]:
    """Alive on the engine's store, under the process id that this gives, until the block ends.

    ``does_work``: may others leave due runs to us?"""
    processes, process_id = engine.store.processes, engine.ids.new("hand")
    await processes.bury_dead()
    agents = tuple(engine.agents)
    await processes.join(Process(process_id, build, agents, does_work=does_work, draws=False))
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
