"""A process shows that it lives, and ends what the dead held."""

from __future__ import annotations

import asyncio
import logging

from agent.errors import StoreError
from agent.ports import Processes
from agent.troubles import Trouble

log = logging.getLogger(__name__)

#: How often the dead are looked for; each look costs no write, each heartbeat one.
LOOK_SECONDS = 1.0
LOOKS_A_BEAT = 10


class Heartbeat:
    """Of one process. While it can't be written, nothing can: the process is not ready then."""

    def __init__(
        self, processes: Processes, process_id: str, look_seconds: float = LOOK_SECONDS
    ) -> None:
        self._processes = processes
        self._process_id = process_id
        self._look_seconds = look_seconds
        self._looks_until_beat = 0
        self._trouble = Trouble(log, "no heartbeat now: %s")
        #: Was the last one written?
        self.is_beating = True

    async def run(self) -> None:
        """For ever. After one that failed the next is tried at each look."""
        while True:
            try:
                await self._beat()
                for dead in await self._processes.bury_dead():
                    log.warning("%s has died; its runs go on", dead)
            except StoreError as error:
                self._trouble.met(error)
            else:
                if self.is_beating and self._trouble.end():
                    log.info("the store takes heartbeats again")
            await asyncio.sleep(self._look_seconds)

    async def _beat(self) -> None:
        if self._looks_until_beat > 0:
            self._looks_until_beat -= 1
            return
        try:
            await self._processes.beat(self._process_id)
        except StoreError:
            self.is_beating = False
            raise
        self.is_beating, self._looks_until_beat = True, LOOKS_A_BEAT - 1
