"""A process that came for one run works it itself while no live process can."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from datetime import timedelta

from agent.engine.advance import Engine
from agent.engine.presence import is_worked, present
from agent.engine.worker import Worker


class HelpingHand:
    """A worker in this process, begun only when it is needed. Close it in the end."""

    def __init__(
        self, engine: Engine, *, term: timedelta, drain: timedelta, build: str = ""
    ) -> None:
        self._engine = engine
        self._term = term
        self._drain = drain
        self._build = build
        self._presence = AsyncExitStack()
        self._worker: Worker | None = None
        self._working: asyncio.Task[None] | None = None

    async def help(self, agent: str) -> None:
        """Work from now on, unless somebody alive works for this agent. Ask again now and then:
        whoever was alive may have died. Raises what ended our own worker."""
        if self._working is not None and self._working.done():
            await self._working
        if self._worker is not None or agent not in self._engine.agents:
            return
        await self._engine.store.processes.bury_dead()
        if not await is_worked(self._engine.store, agent):
            await self._begin()

    async def is_alone(self, agent: str) -> bool:
        """Is there nobody but us, if even us, who could work this agent's runs?"""
        return self._worker is not None or not await is_worked(self._engine.store, agent)

    async def close(self) -> None:
        """Let running calls end, and leave."""
        if self._worker is not None and self._working is not None:
            await self._worker.stop(self._drain)
            self._working.cancel()
            await asyncio.gather(self._working, return_exceptions=True)
        await self._presence.aclose()

    async def _begin(self) -> None:
        presence = present(self._engine, does_work=True, build=self._build)
        process_id = await self._presence.enter_async_context(presence)
        self._worker = Worker(self._engine, process_id=process_id, concurrency=1, term=self._term)
        self._working = asyncio.create_task(self._worker.run(), name="worker")
