"""What happened: every call and delivery in order, broken rules, and a counter that moves."""

from __future__ import annotations

import asyncio
import json
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from bot.sandbox.wire import Json

KEPT = 20_000
BYTES_KEPT = 64 * 1024 * 1024


class Record:
    """Append-only within its bounds. `version` moves with everything a page may show."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._seq = 0
        #: By `seq`, each with its size: written as JSON it takes about so many bytes.
        self._calls: OrderedDict[int, tuple[Json, int]] = OrderedDict()
        self._bytes = 0
        self._waiters: set[asyncio.Event] = set()
        self.violations: list[Json] = []
        self.version = 0

    def note(self, kind: str, **facts: Any) -> Json:
        """Put down one call, delivery or acknowledgement; `settle` it if it is completed later."""
        self._seq += 1
        entry = {"seq": self._seq, "at": self._clock(), "kind": kind, **facts}
        self._keep(entry)
        return entry

    def settle(self, entry: Json) -> None:
        """It is complete now."""
        if entry["seq"] in self._calls:
            self._keep(entry)

    def calls(self, since: int = 0) -> list[Json]:
        return [entry for seq, (entry, _) in self._calls.items() if seq > since]

    def _keep(self, entry: Json) -> None:
        """What is older goes, where there is too much of it."""
        _, before = self._calls.get(entry["seq"], (entry, 0))
        size = len(json.dumps(entry))
        self._calls[entry["seq"]] = (entry, size)
        self._bytes += size - before
        while len(self._calls) > KEPT or (self._bytes > BYTES_KEPT and len(self._calls) > 1):
            _, (_, gone) = self._calls.popitem(last=False)
            self._bytes -= gone

    def violation(self, kind: str, detail: str, method: str | None = None) -> None:
        found: Json = {"kind": kind, "at": self._clock(), "detail": detail}
        if method is not None:
            found["method"] = method
        self.violations.append(found)
        del self.violations[:-KEPT]

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
