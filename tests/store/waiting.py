"""Waiting for what comes by itself."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

T = TypeVar("T")
LONG = 20


async def until(look: Callable[[], Awaitable[T]]) -> T:
    """What ``look`` finds, when it finds something."""
    async with asyncio.timeout(LONG):
        while not (found := await look()):  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    return found
