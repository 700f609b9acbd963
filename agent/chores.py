"""What is to be done a little at a time while people are served: some of it, a pause, and more; once nothing is left,
a longer one.

A fault of ours in one of them ends neither the process nor the others: it would be met again after each restart, and
nobody would be answered meanwhile.
"""

from __future__ import annotations

import asyncio
import logging
import traceback
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from agent.errors import StoreError
from agent.troubles import Trouble

log = logging.getLogger(__name__)

#: Between two parts: whoever waits for an answer goes first.
REST_SECONDS = 0.05
#: After a fault of ours, and twice as long after each more, at most ``FAULT_SECONDS_AT_MOST``.
FAULT_SECONDS = 5.0
FAULT_SECONDS_AT_MOST = 900.0


@dataclass(slots=True)
class Chore:
    #: In words, of a store that can't be asked: "nothing is …".
    done: str
    #: Do some of it; is there more? Raises ``StoreError``.
    some: Callable[[], Awaitable[bool]]
    #: Between two looks, once nothing is left.
    look_seconds: float
    #: How many faults of ours it met since it was done last.
    _faults: int = 0

    @property
    def is_failing(self) -> bool:
        """Did a fault of ours keep it from being done, the last time?"""
        return self._faults > 0

    async def go_on(self) -> None:
        """For ever. What keeps it from being done is said once; it is tried again at the next look. After a fault of
        ours later and later."""
        said: set[str] = set()
        trouble = Trouble(log, f"nothing is {self.done} now: %s")
        while True:
            has_more = False
            try:
                has_more = await self.some()
            except StoreError as error:
                trouble.met(error)
            except Exception as error:
                self._faults += 1
                self._say(error, said)
                await asyncio.sleep(pause_after(self._faults))
                continue
            else:
                trouble.end()
                said.clear()
                self._faults = 0
            await asyncio.sleep(REST_SECONDS if has_more else self.look_seconds)

    def _say(self, error: Exception, said: set[str]) -> None:
        """Each once, by where it arose: its words may quote what somebody wrote."""
        where = "".join(traceback.format_tb(error.__traceback__))
        fault = f"{type(error).__name__}\n{where}"
        if fault not in said:
            said.add(fault)
            log.error("a fault of ours, nothing is %s now; it is tried again: %s", self.done, fault)


def pause_after(faults: int) -> float:
    """In seconds, after so many faults of ours in a row."""
    return min(FAULT_SECONDS * 2.0 ** min(faults - 1, 16), FAULT_SECONDS_AT_MOST)
