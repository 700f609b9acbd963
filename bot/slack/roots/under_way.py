"""What is being found out of a message: people who speak at once cost one question, and not one each."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Generic, TypeVar

from agent.left_running import result_of
from bot.slack.ids import Address

T = TypeVar("T")


class UnderWay(Generic[T]):
    """Nothing is kept once it is found out."""

    def __init__(self) -> None:
        self._tasks: dict[Address, asyncio.Task[T]] = {}

    def __contains__(self, root: Address) -> bool:
        return root in self._tasks

    async def once(self, root: Address, find: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """What ``find`` finds out, or whoever is at it already. Raises as that does."""
        task = self._tasks.get(root)
        if task is None:
            task = self._tasks[root] = asyncio.create_task(find())
            task.add_done_callback(lambda _: self._tasks.pop(root))
        # Whoever gives up leaves the others what they wait for.
        return await result_of(task)
