"""A process that came for one run works it itself while no live process can."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from datetime import timedelta

from agent.engine.advance import Engine
from agent.engine.presence import is_worked, present
from agent.engine.worker import Worker
from agent.rules.state import RunState
from agent.rules.steps import Done, Suspend, next_step


class HelpingHand:
    """Works one run in this process when it is needed, and no other. Close it in the end."""

    def __init__(
        self, engine: Engine, *, term: timedelta, drain: timedelta, build: str = ""
    ) -> None:
        self._engine = engine
        self._term = term
        self._drain = drain
        self._build = build
        self._presence = AsyncExitStack()
        self._process_id: str | None = None
        self._worker: Worker | None = None
        self._working: asyncio.Task[bool] | None = None

    async def help(self, state: RunState) -> None:
        """Take the run up, unless somebody alive can, or it has nothing to do now. Ask again now and then: whoever
        was alive may have died. Raises what ended our own work."""
        if self._working is not None:
            if not self._working.done():
                return
            working, self._working = self._working, None
            await working
        step = next_step(state, self._engine.store.clock.now())
        is_ours = state.agent in self._engine.agents or state.stop is not None
        if not is_ours or isinstance(step, Suspend | Done):
            return
        await self._engine.store.processes.bury_dead()
        if await self.is_alone(state):
            await self._begin(state)

    async def is_alone(self, state: RunState) -> bool:
        """Is there nobody but us, if even us, who could take this run on?"""
        return not await is_worked(self._engine.store, state)

    async def close(self) -> None:
        """Let running calls end, and leave."""
        if self._worker is not None and self._working is not None:
            await self._worker.stop(self._drain)
            await asyncio.gather(self._working, return_exceptions=True)
        await self._presence.aclose()

    async def _begin(self, state: RunState) -> None:
        if self._process_id is None:
            # Whoever works one run is nobody to whom others could leave theirs.
            presence = present(self._engine, does_work=False, build=self._build)
            self._process_id = await self._presence.enter_async_context(presence)
        self._worker = Worker(
            self._engine, process_id=self._process_id, concurrency=1, term=self._term
        )
        self._working = asyncio.create_task(
            self._worker.take_up(state.run_id, state.seq), name=f"work {state.run_id}"
        )
