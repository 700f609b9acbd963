"""What a way to the app must be able to do, and the times it keeps."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, Protocol

from bot.sandbox.wire import Json

Kind = Literal["interactive", "slash_commands"]


@dataclass(frozen=True)
class Timing:
    """Slack's times, in seconds. Its retries come after a minute and five; ours are sped up."""

    ack: float = 3.0
    socket_redelivery: float = 5.0
    retry_delays: tuple[float, ...] = (0.0, 5.0, 30.0)
    #: How long an event waits for somebody to connect at all.
    connection_wait: float = 600.0


@dataclass(frozen=True)
class Retry:
    """This is delivery number `number` (from 1) after the first; `reason` in Slack's words."""

    number: int
    reason: str


@dataclass(frozen=True)
class Reply:
    """The app's answer; `why` says what happened where there is none."""

    acknowledged: bool
    body: Json = field(default_factory=dict)
    why: str = ""
    retry_wanted: bool = True


class Transport(Protocol):
    async def event(self, payload: Json, retry: Retry | None) -> Reply:
        """Deliver once; returns when acknowledged or given up. Never raises."""

    async def interaction(self, kind: Kind, payload: Json) -> Reply:
        """Deliver once, within three seconds. Never raises."""

    async def close(self) -> None: ...
