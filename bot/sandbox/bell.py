"""Wakes whoever waits for something to happen."""

from __future__ import annotations

import asyncio


class Bell:
    def __init__(self) -> None:
        self._waiters: set[asyncio.Event] = set()

    def ring(self) -> None:
        for waiter in self._waiters:
            waiter.set()

    async def heard(self, seconds: float) -> None:
        """Return when it rings next, or when the time is up."""
        waiter = asyncio.Event()
        self._waiters.add(waiter)
        try:
            async with asyncio.timeout(seconds):
                await waiter.wait()
        except TimeoutError:
            pass
        finally:
            self._waiters.discard(waiter)
