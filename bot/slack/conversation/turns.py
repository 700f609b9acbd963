"""What is said in a thread is handed on in the order in which it was said, however long it takes to read what came with
it.

Each process keeps its own order: what two of them hear at once the agent may be told the other way round. What waits
longer than Slack does is not acknowledged, and goes on waiting; see ``answering``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Final

from bot.slack.answering import SendAgain
from bot.slack.ids import Address
from bot.slack.messages import Message

#: Seconds after it has come for which a message waits for earlier ones: where the store is away, each takes that long.
PATIENCE: Final = 30.0
#: So many may be heard at once; Slack is left to deliver the others again.
MOST: Final = 1_000


@dataclass(eq=False)
class _Turn:
    said_at: float
    until: float
    is_over: asyncio.Event = field(default_factory=asyncio.Event)


@dataclass
class Turns:
    """The messages that are being heard; one of these a process."""

    _heard: dict[Address, list[_Turn]] = field(default_factory=dict)

    @contextmanager
    def of(self, message: Message) -> Iterator[None]:
        """While this lasts, it is being heard. Raises ``SendAgain`` where too many are."""
        if sum(map(len, self._heard.values())) >= MOST:
            raise SendAgain("too many messages are being heard")
        until = asyncio.get_running_loop().time() + PATIENCE
        turn, thread = _Turn(float(message.ts), until), _thread(message)
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
        turns, said_at = self._heard.get(_thread(message), []), float(message.ts)
        own = next((one for one in turns if one.said_at == said_at), None)
        earlier = [one for one in turns if one.said_at < said_at]
        if own is None or not earlier:
            return
        with suppress(TimeoutError):
            async with asyncio.timeout_at(own.until):
                for one in earlier:
                    await one.is_over.wait()


def _thread(message: Message) -> Address:
    return Address(message.channel, message.thread)
