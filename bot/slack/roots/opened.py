"""Whether a run's thread is there: its first message is posted by whoever draws it, soon after the run has begun."""

from __future__ import annotations

import asyncio
from typing import Final

from agent.errors import StoreError
from agent.ports import Threads
from agent.rules.ids import RunId
from bot.slack.thread.keys import STATUS_KEY

#: Seconds for which it is waited for.
PATIENCE: Final = 5.0
_LOOK_AGAIN: Final = 0.25


async def is_open(threads: Threads, run_id: RunId) -> bool:
    """Does its first message stand there, now or within some seconds? Where the store does not say: no."""
    until = asyncio.get_running_loop().time() + PATIENCE
    while True:
        try:
            status = (await threads.known(run_id)).messages.get(STATUS_KEY)
        except StoreError:
            return False
        if status is not None and status.status != "posting":
            return True
        if (left := until - asyncio.get_running_loop().time()) <= 0:
            return False
        await asyncio.sleep(min(left, _LOOK_AGAIN))
