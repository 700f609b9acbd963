"""Response URLs: five uses in thirty minutes, each tied to where the person acted."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass

from bot.sandbox.wire import SlackError

LIFE_SECONDS = 30 * 60.0
USES = 5
KEPT = 2000


@dataclass
class Origin:
    """Where a response goes: the person, the channel, and the message that was clicked, if any."""

    user: str
    channel: str
    message_ts: str | None = None
    is_ephemeral: bool = False
    thread_ts: str | None = None


@dataclass
class _Url:
    origin: Origin
    issued_at: float
    uses: int = 0


class ResponseUrls:
    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._issued: dict[str, _Url] = {}

    def issue(self, origin: Origin) -> str:
        """The path of a new URL."""
        secret = secrets.token_urlsafe(18)
        self._issued[secret] = _Url(origin, self._clock())
        while len(self._issued) > KEPT:
            del self._issued[next(iter(self._issued))]
        return f"/response/{secret}"

    def use(self, secret: str) -> Origin:
        """Raises `expired_url` or `used_url`."""
        url = self._issued.get(secret)
        if url is None or self._clock() - url.issued_at > LIFE_SECONDS:
            raise SlackError("expired_url")
        if url.uses >= USES:
            raise SlackError("used_url")
        url.uses += 1
        return url.origin
