"""Recording what a running tool says of how far it is: now and then the newest, and never in the tool's way."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from agent.errors import LeaseLost, SeqConflict, StoreError
from agent.rules.json_text import whole_text
from agent.tools.progress import ProgressLine

log = logging.getLogger(__name__)

#: Seconds between two records, at least; of a call that has run long, the thirtieth part of that.
PAUSE = 1.0
_PART = 30
#: Of one attempt so many are recorded.
MOST = 300
#: In characters; what is longer is cut.
LENGTH = 200

Record = Callable[[str], Awaitable[object]]
Hide = Callable[[str], str]


@asynccontextmanager
async def recorded_progress(line: ProgressLine, record: Record, hide: Hide) -> AsyncIterator[None]:
    """Within, what is said on the line is recorded, without what ``hide`` takes out; behind it nothing more is,
    whatever the tool still says."""
    keeping = asyncio.create_task(_keep_recording(line, record, hide), name="progress")
    try:
        yield
    except BaseException:
        # Whoever cuts it off waits for no word.
        line.close()
        await _cut_off(keeping)
        raise
    line.close()
    try:
        # A record that is on its way stands before the call's end, or nowhere.
        await asyncio.wait({keeping})
    finally:
        await _cut_off(keeping)


async def _cut_off(keeping: asyncio.Task[None]) -> None:
    keeping.cancel()
    (ended,) = await asyncio.gather(keeping, return_exceptions=True)
    if isinstance(ended, Exception):
        # A fault of ours, which must not take the call's outcome along.
        log.error("how far a call is could not be recorded", exc_info=ended)


async def _keep_recording(line: ProgressLine, record: Record, hide: Hide) -> None:
    began, before = time.monotonic(), ""
    for _ in range(MOST):
        text = before
        while text == before or not text:
            said = await line.news()
            if said is None:
                return
            text = _one_line(hide(said))
        try:
            await record(text)
        except (LeaseLost, SeqConflict):
            return  # It is somebody else's to tell, or there is nobody left to tell it to.
        except StoreError as error:
            log.info("how far a call is could not be recorded: %s", error)
        else:
            before = text
        await line.closed_within(max(PAUSE, (time.monotonic() - began) / _PART))


def _one_line(text: str) -> str:
    line = " ".join(whole_text(text[: LENGTH * 10]).split())
    return line if len(line) <= LENGTH else f"{line[: LENGTH - 1].rstrip()}…"
