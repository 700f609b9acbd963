"""How often Slack lets an app call a method, and who was told to wait."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Literal

RateMode = Literal["off", "fast", "real"]

MINUTE = 60.0
#: `fast`: so many times quicker than Slack's; a minute's quota is back after five seconds.
FAST = 12.0
#: Slack says one message a second a channel, and that short bursts go through, not how long: a guess.
MESSAGE_BURST = 5
#: Slack says "several hundred" messages a minute a workspace: a guess.
MESSAGES_A_MINUTE = 300
#: A call already on its way when another was refused broke no rule.
ON_ITS_WAY = 0.25


class Tier(Enum):
    """Calls a minute, of one method by one app in one workspace."""

    T1 = 1
    T2 = 20
    T3 = 50
    T4 = 100
    #: Slack says "hundreds".
    T5 = 600
    #: One message a second a channel with a burst, and a limit for the workspace.
    SPECIAL = MESSAGES_A_MINUTE
    NONE = 0


@dataclass(frozen=True)
class Refused:
    """A 429: `seconds` go into Retry-After; `knew`: the caller had been told so before."""

    seconds: int
    knew: bool = False


class Rates:
    """All tokens belong to the one app in the one workspace, so a method's name is the key.

    Of a method that is limited a channel, method and channel are: to be refused in one says nothing
    of another (a guess).
    """

    def __init__(self, clock: Callable[[], float], mode: RateMode = "off") -> None:
        self._clock = clock
        self._mode = mode
        self._calls: dict[str, deque[float]] = {}
        self._refused: dict[str, tuple[float, float]] = {}

    def ask(self, method: str, tier: Tier, channel: str = "") -> Refused | None:
        """Count this call, or refuse it: also while an earlier refusal lasts."""
        place = f"{method} {channel}"
        for key in (method, place):
            if (refused := self._still_refused(key)) is not None:
                return refused
        if self._mode == "off" or tier is Tier.NONE:
            return None
        limits = [(method, tier.value, MINUTE)]
        if tier is Tier.SPECIAL:
            limits.append((place, MESSAGE_BURST, float(MESSAGE_BURST)))
        for key, count, seconds in limits:
            if (wait := self._until_room(key, count, self._scaled(seconds))) > 0:
                return self.refuse(key, _whole(wait))
        for key, _, _ in limits:
            self._calls[key].append(self._clock())
        return None

    def refuse(self, key: str, seconds: int) -> Refused:
        """Whatever is asked under this key (a method's name) is refused until the time is over."""
        now = self._clock()
        self._refused[key] = (now, now + seconds)
        return Refused(seconds)

    def forgive(self) -> None:
        """Nobody has to wait any more, and nothing was counted."""
        self._calls.clear()
        self._refused.clear()

    def _still_refused(self, key: str) -> Refused | None:
        now = self._clock()
        since, until = self._refused.get(key, (0.0, 0.0))
        return Refused(_whole(until - now), now - since > ON_ITS_WAY) if now < until else None

    def _until_room(self, key: str, count: int, seconds: float) -> float:
        """How long until fewer than `count` calls lie within the last `seconds`."""
        calls = self._calls.setdefault(key, deque())
        now = self._clock()
        while calls and now - calls[0] >= seconds:
            calls.popleft()
        return 0.0 if len(calls) < count else calls[0] + seconds - now

    def _scaled(self, seconds: float) -> float:
        return seconds / FAST if self._mode == "fast" else seconds


def _whole(seconds: float) -> int:
    """Rounded up, as the header needs it; what floats lose on the way makes no second more."""
    return max(1, math.ceil(seconds - 0.001))
