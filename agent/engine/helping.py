"""A process that came for one run works it itself while no live process can."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from datetime import timedelta

from agent.engine.advance import Engine
from agent.engine.worker import Worker
from agent.errors import StoreError
from agent.ports import Process, Store

BEAT_SECONDS = 10.0
#: A heartbeat younger than this belongs to a process that is alive.
ALIVE_FOR = timedelta(seconds=30)


async def is_worked(store: Store, agent: str) -> bool:
    """Is there a live process that works runs of this agent?"""
    alive = await store.processes.alive(ALIVE_FOR)
    return any(process.does_work and agent in process.agents for process in alive)


class HelpingHand:
    """A worker in this process, begun only when it is needed. Close it in the end."""

    def __init__(
        self, engine: Engine, *, term: timedelta, drain: timedelta, build: str = ""
    ) -> None:
        self._engine = engine
        self._processes = engine.store.processes
        self._term = term
        self._drain = drain
        self._build = build
        self._process_id = engine.ids.new("hand")
        self._worker: Worker | None = None
        self._tasks: list[asyncio.Task[None]] = []

    async def help(self, agent: str) -> None:
        """Work from now on, unless somebody alive works for this agent. Ask again now and then:
        whoever was alive may have died. Raises what ended our own worker."""
        for task in self._tasks:
            if task.done():
                await task
        if self._worker is not None or agent not in self._engine.agents:
            return
        await self._processes.bury_dead()
        if not await is_worked(self._engine.store, agent):
            await self._begin()

    async def is_alone(self, agent: str) -> bool:
        """Is there nobody but us, if even us, who could work this agent's runs?"""
        return self._worker is not None or not await is_worked(self._engine.store, agent)

    async def close(self) -> None:
        """Let running calls end, and leave."""
        if self._worker is None:
            return
        await self._worker.stop(self._drain)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._processes.leave(self._process_id)

    async def _begin(self) -> None:
        agents = tuple(self._engine.agents)
        await self._processes.join(
            Process(self._process_id, self._build, agents, does_work=True, draws=False)
        )
        self._worker = Worker(
            self._engine, process_id=self._process_id, concurrency=1, term=self._term
        )
        self._tasks = [
            asyncio.create_task(self._worker.run(), name="worker"),
            asyncio.create_task(self._keep_beating(), name="heartbeat"),
        ]

    async def _keep_beating(self) -> None:
        while True:
            with suppress(StoreError):
                await self._processes.beat(self._process_id)
            await asyncio.sleep(BEAT_SECONDS)
