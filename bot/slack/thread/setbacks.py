"""When a thread can't be drawn now: for how long it is let alone, and what is logged."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import Final

from agent.rules.ids import RunId
from bot.slack.clients import PASSING
from bot.slack.limiter import Limiter
from bot.slack.thread.edge import AnswerLost, NotSent, RateLimited, SlackRefused

log = logging.getLogger(__name__)

#: The token is of no use: no thread can be drawn.
_NO_ACCESS: Final = {
    "account_inactive",
    "invalid_auth",
    "not_authed",
    "token_expired",
    "token_revoked",
}
_FIRST: Final = 1.0
_LONGEST: Final = 300.0
_HELD_WITHOUT_ACCESS: Final = 30.0


def is_lasting(error: SlackRefused | AnswerLost) -> bool:
    """Does Slack say no to this thread alone, until somebody does something about it?"""
    if isinstance(error, (AnswerLost, RateLimited, NotSent)):
        return False
    return error.code not in _NO_ACCESS | PASSING


class Later(Exception):
    """No further now; come back in ``seconds``. ``stops`` what else there is to draw, too."""

    def __init__(self, seconds: float, *, stops: bool = False) -> None:
        super().__init__(f"in {seconds:.1f} s")
        self.seconds = seconds
        self.stops = stops


@dataclass
class Setbacks:
    """What went wrong with which thread, in this process."""

    limiter: Limiter
    _counts: dict[RunId, int] = field(default_factory=dict)
    _logged: dict[RunId, str] = field(default_factory=dict)

    def met(self, run_id: RunId, error: SlackRefused | AnswerLost) -> Later:
        """What follows from it."""
        if isinstance(error, RateLimited):
            return Later(error.retry_after)
        if isinstance(error, AnswerLost):
            return Later(self.again(run_id, f"Slack's answer was lost: {error}"))
        wait = self.again(run_id, f"Slack refuses: {error.code}")
        if error.code in _NO_ACCESS:
            self.limiter.hold(_HELD_WITHOUT_ACCESS)
            return Later(max(wait, _HELD_WITHOUT_ACCESS), stops=True)
        return Later(wait)

    def again(self, run_id: RunId, what: str) -> float:
        """Seconds until it is worth another try; said once for as long as it stays the same."""
        if self._logged.get(run_id) != what:
            self._logged[run_id] = what
            log.warning("the thread of %s can't be drawn now: %s", run_id, what)
        count = self._counts[run_id] = self._counts.get(run_id, 0) + 1
        return float(min(_FIRST * 2 ** min(count - 1, 16), _LONGEST))

    def clear(self, run_id: RunId) -> None:
        """It is drawn."""
        self._counts.pop(run_id, None)
        self._logged.pop(run_id, None)
