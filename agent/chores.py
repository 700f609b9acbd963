"""What is to be done a little at a time while people are served: some of it, a pause, and more; once nothing is left,
a longer one.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from agent.errors import StoreError
from agent.troubles import Trouble

log = logging.getLogger(__name__)

#: Between two parts: whoever waits for an answer goes first.
REST_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class Chore:
    #: In words, of a store that can't be asked: "nothing is …".
    done: str
    #: Do some of it; is there more? Raises ``StoreError``.
    some: Callable[[], Awaitable[bool]]
    #: Between two looks, once nothing is left.
    look_seconds: float

    async def go_on(self) -> None:
        """For ever. What keeps it from being done is said once; it is tried again at the next look."""
        trouble = Trouble(log, f"nothing is {self.done} now: %s")
        while True:
            has_more = False
            try:
                has_more = await self.some()
            except StoreError as error:
                trouble.met(error)
            else:
                trouble.end()
            await asyncio.sleep(REST_SECONDS if has_more else self.look_seconds)
