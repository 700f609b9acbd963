"""What an engine knows of its own lease while it works."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta

from agent.ports import Lease


class LeaseGuard:
    """One held lease, by a monotonic timer: the wall clock may jump, this one does not.

    A claim and a renewal count from when they were asked for (``asked_at``), so that the guard never
    believes in more than the store has given.
    """

    def __init__(
        self,
        lease: Lease,
        term: timedelta,
        asked_at: float | None = None,
        *,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self.lease = lease
        self.lost = asyncio.Event()
        self._term = term.total_seconds()
        self._monotonic = monotonic
        self._ends = (monotonic() if asked_at is None else asked_at) + self._term
        self._renewed = asyncio.Event()

    def renew(self, lease: Lease, asked_at: float) -> None:
        """The store extended it; ``asked_at`` is the monotonic time of the asking."""
        self.lease = lease
        self._ends = asked_at + self._term
        self._renewed.set()
        self._renewed = asyncio.Event()

    def lose(self) -> None:
        """The store has it no more."""
        self.lost.set()

    @property
    def is_over(self) -> bool:
        """Nobody may have replaced us, but somebody could."""
        return self.lost.is_set() or self._monotonic() >= self._ends

    @property
    def may_start(self) -> bool:
        """An effect is begun only with a third of the term left."""
        return not self.lost.is_set() and self._ends - self._monotonic() >= self._term / 3

    async def over(self) -> None:
        """Wait until it is lost, or until its end has come without a renewal."""
        while not self.is_over:
            with suppress(TimeoutError):
                async with asyncio.timeout(self._ends - self._monotonic()):
                    await self.lost.wait()

    async def renewed(self) -> None:
        """Wait for the next renewal or the loss of the lease."""
        waits = [asyncio.ensure_future(event.wait()) for event in (self._renewed, self.lost)]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()
