"""What is said in a thread is handed on in the order in which it was said, however long it takes to read what came with
it.

Each process keeps its own order: what two of them hear at once the agent may be told the other way round.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Final

from bot.slack.ids import Address
from bot.slack.messages import Message

#: Seconds for which an earlier message is waited for: as long as what comes with one is read.
PATIENCE: Final = 2.0


@dataclass(eq=False)
class _Turn:
    said_at: float
    is_over: asyncio.Event = field(default_factory=asyncio.Event)


@dataclass
class Turns:
    """The messages that are being heard; one of these a process."""

    _heard: dict[Address, list[_Turn]] = field(default_factory=dict)

    @contextmanager
    def of(self, message: Message) -> Iterator[None]:
        """While this lasts, it is being heard."""
        turn, thread = _Turn(float(message.ts)), _thread(message)
        turns = self._heard.setdefault(thread, [])
        turns.append(turn)
        try:
            yield
        finally:
            turn.is_over.set()
            turns.remove(turn)
            if not turns:
                del self._heard[thread]

    async def come(self, message: Message) -> None:
        """Until what was said before it in its thread has been handed on, or takes too long."""
        turns = self._heard.get(_thread(message), [])
        earlier = [one for one in turns if one.said_at < float(message.ts)]
        with suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE):
                for one in earlier:
                    await one.is_over.wait()


def _thread(message: Message) -> Address:
    return Address(message.channel, message.thread)
