"""Waiting for whichever comes first."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any


@asynccontextmanager
async def watched(*waits: Coroutine[Any, Any, Any]) -> AsyncIterator[list[asyncio.Future[Any]]]:
    """Tasks that are cancelled and gone when the block ends."""
    tasks = [asyncio.ensure_future(wait) for wait in waits]
    try:
        yield list(tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
