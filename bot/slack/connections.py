"""Several connections of Socket Mode at once: while Slack has one made anew, the others hear."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from bot.slack.connection import SlackConnection

#: Slack lets an app have this many, over all its processes.
ALL_TOGETHER: Final = 10
_OF_ONE_PROCESS: Final = 2
_LOOK_SECONDS: Final = 10.0


def share_of(processes: int) -> int:
    """How many connections each of so many processes may have: one at least, whatever becomes of it."""
    return max(1, min(_OF_ONE_PROCESS, ALL_TOGETHER // max(processes, 1)))


class SlackConnections:
    """As many as this process may have. ``how_many`` says that, and is asked now and then; None: it can't
    be said now, and what is open is kept."""

    def __init__(
        self,
        connect: Callable[[], SlackConnection],
        how_many: Callable[[], Awaitable[int | None]],
        *,
        look_seconds: float = _LOOK_SECONDS,
    ) -> None:
        self._connect = connect
        self._how_many = how_many
        self._look_seconds = look_seconds
        self._open: dict[SlackConnection, asyncio.Task[None]] = {}

    @property
    def is_connected(self) -> bool:
        """Does Slack reach us now, by any of them?"""
        return any(one.is_connected for one in self._open)

    @property
    def count(self) -> int:
        """How many are open, or are being opened."""
        return len(self._open)

    async def run(self) -> None:
        """Stay connected until cancelled; what has been received by then is acknowledged."""
        try:
            while True:
                wanted = await self._how_many() or max(1, self.count)
                while len(self._open) < wanted:
                    one = self._connect()
                    self._open[one] = asyncio.create_task(one.run(), name="slack connection")
                while len(self._open) > wanted:
                    await self._close(self._least_needed())
                ended, _ = await asyncio.wait(
                    self._open.values(),
                    timeout=self._look_seconds,
                    return_when=asyncio.FIRST_COMPLETED,
                )
                for task in ended:
                    task.result()
        finally:
            await asyncio.gather(*map(self._close, list(self._open)))

    def _least_needed(self) -> SlackConnection:
        """The newest of those by which Slack does not reach us; the newest, where it does by each."""
        newest_first = list(reversed(self._open))
        return next((one for one in newest_first if not one.is_connected), newest_first[0])

    async def _close(self, one: SlackConnection) -> None:
        task = self._open.pop(one)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
