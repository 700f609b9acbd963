"""What a way to the app must be able to do, and the times it keeps."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal, Protocol

from bot.sandbox.wire import Json

Kind = Literal["interactive", "slash_commands"]


@dataclass(frozen=True)
class Timing:
    """Slack's times, in seconds."""

    #: An app must have answered by then.
    ack: float = 3.0
    #: So long a trigger id opens a view, by the sandbox's clock.
    trigger: float = 3.0
    #: So long a response URL takes responses, by the sandbox's clock.
    response_url: float = 30 * 60.0
    #: From a failed delivery of an event to the next one: "nearly immediately, after 1 minute,
    #: after 5 minutes".
    retry_delays: tuple[float, ...] = (0.0, 60.0, 300.0)
    #: When Socket Mode sends an unacknowledged event again. Not verified; an acknowledgement after
    #: `ack` seconds is late in any case.
    socket_redelivery: float = 5.0
    #: How long an event waits for somebody to connect at all. A guess.
    connection_wait: float = 600.0
    #: How long a socket lives; Slack says "several hours".
    connection_life: float = 5 * 3600.0
    #: The same with `debug_reconnects=true`.
    debug_connection_life: float = 360.0
    #: From the `warning` to the `refresh_requested` of a socket's end.
    warning: float = 10.0
    #: From any other `disconnect` to the sandbox's closing of a socket that the app leaves open. How
    #: long Slack waits is not verified.
    farewell: float = 1.0
    #: Between two of the server's pings; a socket that answers none of two is given up.
    ping: float = 10.0

    @staticmethod
    def real() -> Timing:
        return Timing()

    @staticmethod
    def fast(factor: float = 12.0) -> Timing:
        """What Slack waits for, so many times shorter; what an app has to keep stays as it is."""
        slack = Timing()
        return replace(
            slack,
            retry_delays=tuple(delay / factor for delay in slack.retry_delays),
            connection_life=slack.connection_life / factor,
            debug_connection_life=slack.debug_connection_life / factor,
            warning=slack.warning / factor,
        )


@dataclass(frozen=True)
class Retry:
    """This is delivery number `number` (from 1) after the first; `reason` in Slack's words."""

    number: int
    reason: str


@dataclass(frozen=True)
class Reply:
    """The app's answer; `why` says what happened where there is none.

    Of an event in Slack's words, as they go into its next delivery.
    """

    acknowledged: bool
    body: Json = field(default_factory=dict)
    why: str = ""
    retry_wanted: bool = True
    #: What the app answered where that is no JSON object.
    text: str = ""
    #: False where the sandbox itself kept the delivery from the app.
    blames_app: bool = True


class Transport(Protocol):
    #: Slack's word for it in a retry when no answer came in time.
    no_answer: str

    async def event(self, payload: Json, retry: Retry | None) -> Reply:
        """Deliver once; returns when acknowledged or given up. Never raises."""

    async def interaction(self, kind: Kind, payload: Json) -> Reply:
        """Deliver once, within three seconds. Never raises."""

    async def close(self) -> None: ...
