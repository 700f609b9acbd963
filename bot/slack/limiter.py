"""What Slack still allows this process.

Nobody waits in here: whoever may not call yet is told how long, lets go, and comes back with what is
true then. So a burst of changes becomes one edit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

#: chat.update has fifty a minute a workspace; clicks and other apps' habits take some.
UPDATES_PER_MINUTE: Final = 40
_UPDATES_BURST: Final = 12
#: A message a second in a channel, with bursts.
_POSTS_PER_SECOND: Final = 1.0
_POSTS_BURST: Final = 10
#: What is left for more urgent ones, by priority: approval cards use the last of it.
_RESERVES: Final = (0, 2, 5)
_BUCKETS_KEPT: Final = 1000


@dataclass(slots=True)
class _Bucket:
    """Tokens that come back with time."""

    per_second: float
    burst: int
    tokens: float
    at: float

    def wait(self, now: float, reserve: int) -> float:
        """Seconds until there is one more than ``reserve``."""
        self.tokens = min(self.burst, self.tokens + (now - self.at) * self.per_second)
        self.at = now
        return max(0.0, (reserve + 1 - self.tokens) / self.per_second)


class Limiter:
    """The budgets of this process, and Slack's "not before". ``monotonic`` gives seconds."""

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._held_until = monotonic()
        self._updates = self._bucket(UPDATES_PER_MINUTE / 60, _UPDATES_BURST)
        self._posts: dict[str, _Bucket] = {}

    @property
    def held(self) -> float:
        """Seconds in which nothing at all may be sent."""
        return max(0.0, self._held_until - self._monotonic())

    def hold(self, seconds: float) -> None:
        """Slack said when to come back: everybody does."""
        self._held_until = max(self._held_until, self._monotonic() + seconds)

    def take_post(self, channel: str, priority: int) -> float:
        """Zero: post now. Else the seconds until it may be asked for again."""
        return self._take(self._posts_of(channel), priority)

    def take_update(self, priority: int) -> float:
        """Zero: edit now. Else the seconds until it may be asked for again."""
        return self._take(self._updates, priority)

    def _take(self, bucket: _Bucket, priority: int) -> float:
        wait = bucket.wait(self._monotonic(), _RESERVES[priority])
        if held := self.held:
            return max(held, wait)
        if wait == 0.0:
            bucket.tokens -= 1
        return wait

    def _posts_of(self, channel: str) -> _Bucket:
        if channel not in self._posts:
            if len(self._posts) >= _BUCKETS_KEPT:
                self._posts.clear()
            self._posts[channel] = self._bucket(_POSTS_PER_SECOND, _POSTS_BURST)
        return self._posts[channel]

    def _bucket(self, per_second: float, burst: int) -> _Bucket:
        return _Bucket(per_second, burst, float(burst), self._monotonic())
