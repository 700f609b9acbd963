"""Letting go of what can't be worked on now, also when that is because the store is away."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from agent.engine.guard import LeaseGuard
from agent.errors import StoreError, StoreUnavailable

log = logging.getLogger(__name__)

#: Between two attempts, in seconds.
AGAIN_AFTER = 0.5


async def let_go(
    guard: LeaseGuard, stopping: asyncio.Event, defer: Callable[[], Awaitable[object]]
) -> None:
    """Tried again while the store is away and the lease is ours: else it would rest until the lease ends, though
    the store is back. Raises nothing of the store's; whoever is to end does not wait for it."""
    while True:
        try:
            await defer()
            return
        except StoreUnavailable as error:
            if guard.is_over or stopping.is_set():
                _is_left(guard, error)
                return
        except StoreError as error:
            _is_left(guard, error)
            return
        await asyncio.sleep(AGAIN_AFTER)


def _is_left(guard: LeaseGuard, error: StoreError) -> None:
    log.warning("%s falls due when its lease ends: %s", guard.lease.run_id, error)
