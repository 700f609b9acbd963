"""A task that goes on to its end when whoever waits for it gives up."""

from __future__ import annotations

import asyncio
from typing import TypeVar

T = TypeVar("T")


async def result_of(task: asyncio.Task[T]) -> T:
    """What it gives, or raises. If nobody waits any more when it fails, nobody has missed anything: the log is not
    told of an error that was never retrieved."""
    task.add_done_callback(_hear)
    return await asyncio.shield(task)


def _hear(task: asyncio.Task[T]) -> None:
    if not task.cancelled():
        task.exception()
