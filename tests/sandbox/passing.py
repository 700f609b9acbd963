"""Time that passes at once, for whatever waits on the running loop: no test hurries for fear of it, and none waits."""

from __future__ import annotations

import asyncio

#: So many turns of the loop take what was just begun to where it waits.
TURNS = 5


async def time_passes(seconds: float) -> None:
    """Returns once whatever falls due within them has begun. What waits for more than a minute in all may find
    aiohttp's idle connections closed."""
    loop = asyncio.get_running_loop()
    for _ in range(TURNS):
        await asyncio.sleep(0)
    over = asyncio.create_task(asyncio.sleep(seconds))
    await asyncio.sleep(0)
    before = loop.time
    loop.time = lambda: before() + seconds  # type: ignore[method-assign]
    await over
