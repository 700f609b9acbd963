"""Taking up runs that nobody works: one by its id, or all that are due."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from datetime import timedelta
from typing import Any, TypeVar

from agent.engine.advance import Engine
from agent.engine.presence import present
from agent.engine.worker import Worker
from agent.rules.ids import RunId

T = TypeVar("T")

#: How many runs are worked at the same time.
TOGETHER = 8


async def take_up(
    engine: Engine,
    run_id: RunId,
    seen_seq: int,
    *,
    term: timedelta,
    drain: timedelta,
    build: str = "",
) -> bool:
    """Work this run here, due or not, until it suspends or ends; False while somebody alive has it,
    or if it has moved on from ``seen_seq``.

    Cancelled, running calls get the time ``drain`` to end."""
    return await _as_worker(
        engine, lambda worker: worker.take_up(run_id, seen_seq), term, drain, build
    )


async def take_up_due(
    engine: Engine, *, term: timedelta, drain: timedelta, build: str = ""
) -> list[RunId]:
    """Work here every run that is due and that nobody alive has, each until it suspends or ends; what
    that was. Cancelled, running calls get the time ``drain`` to end."""
    return await _as_worker(engine, lambda worker: worker.take_up_due(), term, drain, build)


async def _as_worker(
    engine: Engine,
    work: Callable[[Worker], Coroutine[Any, Any, T]],
    term: timedelta,
    drain: timedelta,
    build: str,
) -> T:
    # Who takes up what is there, and no more, is nobody to whom others could leave theirs.
    async with present(engine, does_work=False, build=build) as process_id:
        worker = Worker(engine, process_id=process_id, concurrency=TOGETHER, term=term)
        working = asyncio.create_task(work(worker), name="take up")
        try:
            return await asyncio.shield(working)
        finally:
            if not working.done():
                await worker.stop(drain)
                await asyncio.gather(working, return_exceptions=True)
