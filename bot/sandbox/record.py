"""What happened: every call and delivery in order, broken rules, and a counter that moves."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Any

from bot.sandbox.wire import Json

KEPT = 20_000


class Record:
    """Append-only within its bounds. `version` moves with everything a page may show."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._seq = 0
        self._calls: deque[Json] = deque(maxlen=KEPT)
        self._waiters: set[asyncio.Event] = set()
        self.violations: list[Json] = []
        self.version = 0

    def note(self, kind: str, **facts: Any) -> Json:
        """Put down one call, delivery or acknowledgement; the entry may be completed later."""
        self._seq += 1
        entry = {"seq": self._seq, "at": self._clock(), "kind": kind, **facts}
        self._calls.append(entry)
        return entry

    def calls(self, since: int = 0) -> list[Json]:
        return [entry for entry in self._calls if entry["seq"] > since]

    def violation(self, kind: str, detail: str, method: str | None = None) -> None:
        found: Json = {"kind": kind, "at": self._clock(), "detail": detail}
        if method is not None:
            found["method"] = method
        self.violations.append(found)

    def touch(self) -> int:
        """Something visible changed: wake whoever waits, and give the change its number."""
        self.version += 1
        self.wake()
        return self.version

    def wake(self) -> None:
        for waiter in self._waiters:
            waiter.set()

    async def moved(self, since: int, timeout: float) -> None:
        """Return once `version` is beyond `since`, or when the time is up."""
        if self.version > since:
            return
        waiter = asyncio.Event()
        self._waiters.add(waiter)
        try:
            async with asyncio.timeout(timeout):
                await waiter.wait()
        except TimeoutError:
            pass
        finally:
            self._waiters.discard(waiter)
