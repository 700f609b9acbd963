"""How a running tool hears that it had better come to an end."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Generator


class Cancellation:
    """Set once, and then for good. Nothing is cut off by it: a tool that looks at it ends sooner, in its own way.

    It may be looked at from any thread and any event loop: ``if context.cancelled``, ``await context.cancelled``,
    or ``context.cancelled.wait(seconds)`` in place of a sleep in a plain function."""

    def __init__(self) -> None:
        self._is_set = threading.Event()
        self._lock = threading.Lock()
        self._waiting: list[tuple[asyncio.AbstractEventLoop, asyncio.Future[None]]] = []
        #: Why, in words; empty until it is set.
        self.reason = ""

    def __bool__(self) -> bool:
        return self._is_set.is_set()

    def __await__(self) -> Generator[None, None, str]:
        """Wait until it is set; why that is."""
        yield from self._until_set().__await__()
        return self.reason

    def wait(self, seconds: float | None = None) -> bool:
        """Block this thread until it is set, or so long; is it set then? Not for async tools."""
        return self._is_set.wait(seconds)

    def set(self, reason: str) -> None:
        """For whoever runs the tool. The first reason stays."""
        with self._lock:
            if self._is_set.is_set():
                return
            self.reason = reason
            self._is_set.set()
            waiting, self._waiting = self._waiting, []
        for loop, future in waiting:
            if not loop.is_closed():
                loop.call_soon_threadsafe(_settle, future)

    async def _until_set(self) -> None:
        loop = asyncio.get_running_loop()
        future: asyncio.Future[None] = loop.create_future()
        with self._lock:
            if self._is_set.is_set():
                return
            self._waiting.append((loop, future))
        try:
            await future
        finally:
            with self._lock:
                self._waiting = [one for one in self._waiting if one[1] is not future]


def _settle(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)
