"""The calls that this engine is running now."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from agent.rules.ids import CallId


class Flights:
    """Tasks by call id. A call stays in flight until its task has recorded what happened."""

    def __init__(self) -> None:
        self._tasks: dict[CallId, asyncio.Task[None]] = {}

    @property
    def ids(self) -> frozenset[CallId]:
        return frozenset(self._tasks)

    def launch(self, call_id: CallId, work: Coroutine[Any, Any, None]) -> None:
        self._tasks[call_id] = asyncio.create_task(work, name=f"call {call_id}")

    def land(self) -> bool:
        """Take out what has ended; True if anything had. Raises what a task raised."""
        ended = [(call_id, task) for call_id, task in self._tasks.items() if task.done()]
        for call_id, _ in ended:
            del self._tasks[call_id]
        for _, task in ended:
            task.result()
        return bool(ended)

    async def wait(self, *others: asyncio.Future[Any], timeout: float | None = None) -> None:
        """Until a call or one of ``others`` ends, or ``timeout`` seconds have passed."""
        await asyncio.wait(
            {*self._tasks.values(), *others},
            timeout=timeout,
            return_when=asyncio.FIRST_COMPLETED,
        )

    async def hear_out(self, unless: asyncio.Future[Any]) -> None:
        """Until all have ended, or ``unless`` has."""
        while not unless.done() and (flying := [t for t in self._tasks.values() if not t.done()]):
            await asyncio.wait({*flying, unless}, return_when=asyncio.FIRST_COMPLETED)

    async def cancel(self) -> None:
        """End them all; their calls stay open and are recovered by whoever comes next."""
        tasks = list(self._tasks.values())
        self._tasks.clear()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
