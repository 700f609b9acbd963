"""Response URLs: five uses in thirty minutes, each tied to where the person acted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from bot.sandbox.ids import Ids
from bot.sandbox.newest import Newest
from bot.sandbox.wire import SlackError

#: Under this name faults and the record know calls of response URLs.
RESPONSE_URL = "response_url"
#: A response that is refused uses the URL up as well: a guess.
USES = 5
KEPT = 2000


@dataclass(frozen=True)
class Origin:
    """Where a response goes: the person, the channel, and the message that was clicked, if any."""

    user: str
    channel: str
    message_ts: str | None = None
    is_ephemeral: bool = False


@dataclass
class _Url:
    origin: Origin
    issued_at: float
    uses: int = 0


class ResponseUrls:
    def __init__(self, clock: Callable[[], float], ids: Ids, life: float) -> None:
        """`life`: for how many seconds a URL takes responses."""
        self._clock = clock
        self._life = life
        self._ids = ids
        self._issued: Newest[str, _Url] = Newest(KEPT)

    def issue(self, origin: Origin) -> str:
        """The path of a new URL."""
        secret = self._ids.secret()
        self._issued[secret] = _Url(origin, self._clock())
        return f"/response/{secret}"

    def use(self, secret: str) -> Origin:
        """Raises `expired_url` or `used_url`."""
        url = self._issued.get(secret)
        if url is None or self._clock() - url.issued_at > self._life:
            raise SlackError("expired_url")
        if url.uses >= USES:
            raise SlackError("used_url")
        url.uses += 1
        return url.origin
