"""What Slack's own surface for agents shows of a run beside its messages: that it is at work, or waits.

Decoration: it is tried once for each change, never waited for, and where Slack refuses it, it is let be for a while.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Final, Literal

from agent.rules.state import RunState
from bot.slack.cards.live import is_at_work
from bot.slack.ids import Place
from bot.slack.limiter import saying_status
from bot.slack.thread.asking import Asking
from bot.slack.thread.desired import Priority
from bot.slack.thread.edge import AnswerLost, SlackRefused
from bot.slack.thread.rows import Rows
from bot.slack.thread.setbacks import Later
from bot.slack.thread.stream_edge import SlackStreams

log = logging.getLogger(__name__)

NativeStatus = Literal["processing", "suspended", "active"]
#: The row that says what Slack was last told: no message stands behind it.
NATIVE_KEY: Final = "native"
#: Whoever waits for a card is not kept waiting for longer than that.
_WITHIN_SECONDS: Final = 3.0
_LET_BE_SECONDS: Final = 600.0
#: Slack says this of a method, wherever it is called.
_OF_APP: Final = frozenset(
    {
        "access_denied",
        "feature_disabled",
        "feature_not_enabled",
        "method_deprecated",
        "missing_scope",
        "not_agent_app",
        "not_allowed_token_type",
        "not_authorized",
        "unknown_method",
    }
)
_ANYWHERE: Final = ""
_KEPT: Final = 1000


def native_status(state: RunState, *, is_blocked: bool = False) -> NativeStatus:
    """``processing`` has Slack show its Stop button."""
    if state.is_ended:
        return "active"
    return "processing" if is_at_work(state) and not is_blocked else "suspended"


@dataclass
class Refused:
    """What Slack has refused to this process, in a thread or anywhere: not tried again for a while."""

    monotonic: Callable[[], float]
    _until: dict[tuple[str, str], float] = field(default_factory=dict)

    def is_let_be(self, what: str, at: Place) -> bool:
        now = self.monotonic()
        return any(self._until.get((what, where), 0.0) > now for where in (_ANYWHERE, str(at)))

    def met(self, what: str, at: Place, why: str) -> None:
        """Slack does not take it, or does not answer."""
        log.info("%s in %s is let be for a while: %s", what, at.channel, why)
        if len(self._until) >= _KEPT:
            self._until.clear()
        where = _ANYWHERE if why in _OF_APP else str(at)
        self._until[what, where] = self.monotonic() + _LET_BE_SECONDS


@dataclass(frozen=True, slots=True)
class Native:
    """Tells Slack how the run is doing."""

    streams: SlackStreams
    asking: Asking
    rows: Rows
    refused: Refused

    async def note(self, status: NativeStatus) -> None:
        """Slack has been told so."""
        if self._told != status:
            await self.rows.noted(NATIVE_KEY, status)

    async def tell(self, status: NativeStatus, at: Place) -> None:
        """Tell Slack where it has not been told yet. Raises ``LeaseLost``, ``StoreUnavailable``."""
        if self._told == status or self.refused.is_let_be(NATIVE_KEY, at):
            return
        action = saying_status(at.team)
        try:
            await self.asking.allow(action, Priority.STATUS)
            async with asyncio.timeout(_WITHIN_SECONDS):
                await self.asking.call(action, partial(self.streams.say_status, at, status))
        except Later:
            return
        except (SlackRefused, AnswerLost, TimeoutError) as error:
            self.refused.met(NATIVE_KEY, at, str(error) or type(error).__name__)
            return
        await self.note(status)

    @property
    def _told(self) -> str | None:
        row = self.rows.known.get(NATIVE_KEY)
        return None if row is None else row.digest
