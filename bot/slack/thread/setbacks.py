"""When a thread can't be drawn now: for how long it is let alone, and what is logged."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, TypeGuard

from agent.rules.ids import RunId
from bot.slack.clients import PASSING
from bot.slack.limiter import Limiter
from bot.slack.thread.edge import AnswerLost, NotSent, RateLimited, SlackRefused
from bot.slack.thread.refusals import Refusals, Target

log = logging.getLogger(__name__)

#: The token is of no use, here or now: no thread can be drawn.
_NO_ACCESS: Final = {
    "accesslimited",
    "account_inactive",
    "ekm_access_denied",
    "invalid_auth",
    "not_allowed_token_type",
    "not_authed",
    "org_login_required",
    "team_access_not_granted",
    "token_expired",
    "token_revoked",
}
#: Slack has trouble, or is at something, of its own.
_PASSING: Final = PASSING | {"external_channel_migrating", "update_failed"}
_FIRST: Final = 1.0
_LONGEST: Final = 300.0
#: Slack is away, and all threads with it: what they are to show has become urgent when it is back.
_LONGEST_AWAY: Final = 20.0
_HELD_WITHOUT_ACCESS: Final = 30.0
#: Threads of which something is kept: others may have drawn them since, of which this process hears nothing.
_KEPT: Final = 10_000


def is_lasting(error: SlackRefused | AnswerLost) -> TypeGuard[SlackRefused]:
    """Does Slack say no to this message, until somebody does something about it?"""
    if isinstance(error, (AnswerLost, RateLimited, NotSent)):
        return False
    return error.code not in _NO_ACCESS | _PASSING


class Later(Exception):
    """No further now; come back in ``seconds``. ``stops`` what else there is to draw, too."""

    def __init__(self, seconds: float, *, stops: bool = False) -> None:
        super().__init__(f"in {seconds:.1f} s")
        self.seconds = seconds
        self.stops = stops


@dataclass
class _Setback:
    """What went wrong with one thread since it was last drawn."""

    count: int = 0
    logged: str | None = None
    #: What had been seen of its run when it was put off.
    seen: int | None = None
    #: When somebody had last asked that it be tried.
    asked_for_at: datetime | None = None


@dataclass
class Setbacks:
    """What went wrong with which thread, in this process; of the newest of them."""

    limiter: Limiter
    refusals: Refusals = field(init=False)
    _known: dict[RunId, _Setback] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.refusals = Refusals(self.limiter.monotonic)

    def met(self, target: Target, error: SlackRefused | AnswerLost, *, is_awaited: bool) -> Later:
        """What follows from it; ``is_awaited``: people wait for it to be mended."""
        run_id = target.run_id
        if isinstance(error, RateLimited):
            return Later(error.retry_after)
        if isinstance(error, AnswerLost):
            lost = f"Slack's answer was lost: {error}"
            return Later(self.again(run_id, lost, longest=_LONGEST_AWAY))
        what = f"Slack refuses: {error.code}"
        if is_lasting(error):
            self._log(run_id, what)
            self.refusals.met(target, error, is_awaited=is_awaited)
            refusal = self.refusals.of(target)
            return Later(0.0 if refusal is None else self.refusals.left(refusal))
        wait = self.again(run_id, what, longest=_LONGEST_AWAY)
        if error.code in _NO_ACCESS:
            self.limiter.hold(_HELD_WITHOUT_ACCESS)
            return Later(max(wait, _HELD_WITHOUT_ACCESS), stops=True)
        return Later(wait)

    def again(self, run_id: RunId, what: str, *, longest: float = _LONGEST) -> float:
        """Seconds until it is worth another try; said once for as long as it stays the same."""
        self._log(run_id, what)
        known = self._of(run_id)
        known.count += 1
        return float(min(_FIRST * 2 ** min(known.count - 1, 16), longest))

    def put_off(self, run_id: RunId, seen: int | None) -> None:
        """The thread is let go before it is drawn, with so much seen of its run."""
        self._of(run_id).seen = seen

    def taken_up(self, run_id: RunId, seen: int) -> None:
        """The thread is looked at again. If its run has moved since it was put off, there is something new to
        show, and what was refused to this thread is tried at once."""
        known = self._known.get(run_id)
        if known is not None and known.seen is not None and known.seen < seen:
            known.seen = None
            self.refusals.try_again(run_id)

    def asked_for(self, run_id: RunId, channels: Iterable[str], at: datetime | None) -> None:
        """When somebody, in whichever process, last asked that the thread be tried. If that is not known here
        yet, what was refused to it, and to the channels that it is shown in, is tried at once."""
        if at is not None and at != (known := self._of(run_id)).asked_for_at:
            known.asked_for_at = at
            self.refusals.forget(run_id, channels)

    def clear(self, run_id: RunId) -> None:
        """It is drawn. That somebody asked for it before is no news when it is looked at again."""
        self.refusals.forget(run_id)
        known = self._known.pop(run_id, None)
        if known is not None and known.asked_for_at is not None:
            self._of(run_id).asked_for_at = known.asked_for_at

    def _of(self, run_id: RunId) -> _Setback:
        known = self._known.pop(run_id, None) or _Setback()
        while len(self._known) >= _KEPT:
            del self._known[next(iter(self._known))]
        self._known[run_id] = known
        return known

    def _log(self, run_id: RunId, what: str) -> None:
        known = self._of(run_id)
        if known.logged != what:
            known.logged = what
            log.warning("the thread of %s can't be drawn now: %s", run_id, what)
