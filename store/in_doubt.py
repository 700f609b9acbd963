"""A commit whose answer was lost: whether it was done is found out by trying the same again.

Only for what finds itself by its ids, so that it is never done twice.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

from agent.errors import CommitInDoubt, StoreUnavailable

log = logging.getLogger(__name__)
T = TypeVar("T")

#: So long it is tried to find out: whoever waits for it is told meanwhile that it is being saved.
FOUND_OUT_WITHIN = 20.0
_FIRST_PAUSE, _LONGEST_PAUSE = 0.05, 1.0


async def until_known(attempt: Callable[[], Awaitable[T]], is_closed: Callable[[], bool]) -> T:
    """What ``attempt`` gives or raises. Raises ``CommitInDoubt`` where that can't be found out in time."""
    try:
        return await attempt()
    except CommitInDoubt as error:
        log.warning("%s It is found out.", error)
        doubt = error
    began_at, pause = time.monotonic(), _FIRST_PAUSE
    while time.monotonic() - began_at < FOUND_OUT_WITHIN and not is_closed():
        await asyncio.sleep(pause)
        pause = min(2 * pause, _LONGEST_PAUSE)
        try:
            return await attempt()
        except StoreUnavailable:
            continue
    raise doubt
