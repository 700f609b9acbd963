"""The parts of a process, run together: all until they are told to stop, or none."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Collection, Coroutine, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from agent.errors import PilothouseError

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class PartEnded(PilothouseError):
    """A part of the process ended by itself; the process ends too, to be started again."""

    code = "part_ended"

    def __init__(self, part: str) -> None:
        super().__init__(f"The part {part!r} of this process ended by itself; the process ends.")
        self.part = part


@contextmanager
def stop_signals() -> Iterator[asyncio.Event]:
    """Set when the process is asked to end. A second request ends it at once."""
    loop, stop = asyncio.get_running_loop(), asyncio.Event()
    # Under nohup a terminal's end is to be outlived.
    ours = [s for s in _SIGNALS if s != signal.SIGHUP or signal.getsignal(s) != signal.SIG_IGN]

    def give_back() -> None:
        for one in ours:
            loop.remove_signal_handler(one)

    def ask() -> None:
        give_back()
        stop.set()

    for one in ours:
        loop.add_signal_handler(one, ask)
    try:
        yield stop
    finally:
        give_back()


def begin(parts: Mapping[str, Coroutine[Any, Any, None]]) -> list[asyncio.Task[None]]:
    """Each part as a task of its name."""
    return [asyncio.create_task(work, name=name) for name, work in parts.items()]


async def until_stopped(
    tasks: list[asyncio.Task[None]],
    stop: asyncio.Event,
    *,
    passing: Collection[asyncio.Task[None]] = (),
) -> None:
    """Return when ``stop`` is set. Raises what ended a part, or ``PartEnded``. Those that are ``passing``
    may end by themselves, when they have done their work."""
    waiting = asyncio.create_task(stop.wait(), name="stop")
    left: set[asyncio.Task[Any]] = {*tasks, *passing, waiting}
    try:
        while waiting in left:
            done, left = await asyncio.wait(left, return_when=asyncio.FIRST_COMPLETED)
            for task in done - {waiting}:
                task.result()
                if task not in passing:
                    raise PartEnded(task.get_name())
    finally:
        waiting.cancel()


async def end(tasks: list[asyncio.Task[None]]) -> None:
    """Cancel what still runs, and wait for it."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
