"""A command works the run itself while no live process can."""

from __future__ import annotations

import asyncio
import logging
from datetime import timedelta

from agent.engine.new_ids import UuidIds
from agent.engine.worker import Worker
from agent.ports import Process
from agent.runtime import Runtime
from bot.build import BUILD

log = logging.getLogger(__name__)

BEAT_SECONDS = 1.0


class HelpingHand:
    """A worker in this process, begun only when it is needed. Close it in the end."""

    def __init__(self, runtime: Runtime, *, term: timedelta, drain: timedelta) -> None:
        self._runtime = runtime
        self._processes = runtime.store.processes
        self._term = term
        self._drain = drain
        self._process_id = UuidIds().new("cli")
        self._worker: Worker | None = None
        self._tasks: list[asyncio.Task[None]] = []

    async def help(self, agent: str) -> None:
        """Work from now on, unless somebody alive works for this agent. Ask again now and then:
        whoever was alive may have died. Raises what ended our own worker."""
        for task in self._tasks:
            if task.done():
                await task
        if self._worker is not None or agent not in self._runtime.agents:
            return
        await self._processes.bury_dead()
        if not await self._runtime.is_worked(agent):
            await self._begin()

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
        await self._processes.join(
            Process(
                self._process_id, BUILD, tuple(self._runtime.agents), does_work=True, draws=False
            )
        )
        self._worker = self._runtime.worker(
            process_id=self._process_id, concurrency=1, term=self._term
        )
        self._tasks = [asyncio.create_task(self._worker.run()), asyncio.create_task(self._beat())]

    async def _beat(self) -> None:
        while True:
            await self._processes.beat(self._process_id)
            await asyncio.sleep(BEAT_SECONDS)
