"""Whoever gives up waiting leaves a task to its end, and its failure to nobody."""

from __future__ import annotations

import asyncio
import gc
from contextlib import suppress
from typing import Any

import pytest

from agent.errors import StoreUnavailable
from agent.left_running import result_of


async def test_a_failure_that_nobody_waits_for_any_more_is_not_told_as_lost() -> None:
    told: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: told.append(context))
    goes_on, has_begun = asyncio.Event(), asyncio.Event()

    async def fail() -> None:
        has_begun.set()
        await goes_on.wait()
        raise StoreUnavailable("It is away.")

    task = asyncio.create_task(fail())
    waiting = asyncio.create_task(result_of(task))
    await has_begun.wait()
    waiting.cancel()
    with suppress(asyncio.CancelledError):
        await waiting
    assert not task.done()
    goes_on.set()
    await asyncio.wait([task])
    del task, waiting
    gc.collect()
    assert told == []


async def test_whoever_waits_is_given_what_it_gives_and_told_what_it_raises() -> None:
    async def give(value: int) -> int:
        if not value:
            raise StoreUnavailable("It is away.")
        return value

    assert await result_of(asyncio.create_task(give(7))) == 7
    with pytest.raises(StoreUnavailable):
        await result_of(asyncio.create_task(give(0)))
