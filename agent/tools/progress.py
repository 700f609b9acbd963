"""What a running tool says of how far it is: the newest word, handed from its thread to the engine's."""

from __future__ import annotations

import asyncio
from contextlib import suppress


class ProgressLine:
    """Made on the event loop that listens. Saying something costs next to nothing, however often it is done:
    what nobody has taken yet is replaced by what is newer."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._news = asyncio.Event()
        self._closed = asyncio.Event()
        self._newest: str | None = None
        self._is_told = False
        self.is_closed = False

    def say(self, text: object) -> None:
        """From any thread. It raises nothing, and does nothing once the line is closed."""
        if self.is_closed:
            return
        self._newest = _as_text(text)
        if not self._is_told:
            self._is_told = True
            self._tell()

    def close(self) -> None:
        """The call is over. On the loop alone."""
        self.is_closed = True
        self._closed.set()
        self._news.set()

    async def news(self) -> str | None:
        """The newest word that was not taken before; None once the line is closed."""
        while not self.is_closed:
            await self._news.wait()
            self._news.clear()
            # In this order: what is said in between is told once more, and not missed.
            self._is_told = False
            if (newest := self._newest) is not None and not self.is_closed:
                self._newest = None
                return newest
        return None

    async def closed_within(self, seconds: float) -> None:
        """Wait until the line is closed, but no longer than this."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._closed.wait()

    def _tell(self) -> None:
        try:
            self._loop.call_soon_threadsafe(self._news.set)
        except RuntimeError:
            # The loop has ended, and so has whoever listened.
            self.is_closed = True


def _as_text(text: object) -> str:
    try:
        return str(text)
    except Exception as error:
        # Foreign code may raise anything here, and a word on the side must not fail the tool.
        return f"(it can't be put into words: {type(error).__name__})"
