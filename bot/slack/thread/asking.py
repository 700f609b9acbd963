"""Calls to Slack for one thread: as often as Slack allows, by whoever still holds the thread."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from agent.engine.guard import LeaseGuard
from agent.errors import LeaseLost
from bot.slack.limiter import Action, Limiter
from bot.slack.thread.edge import RateLimited
from bot.slack.thread.setbacks import Later

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Asking:
    """Asks Slack for whoever holds ``guard``'s lease."""

    limiter: Limiter
    guard: LeaseGuard

    async def allow(self, action: Action, priority: int) -> None:
        """Take one from what Slack allows. Raises ``Later`` where nothing is left of it,
        ``StoreUnavailable``."""
        if wait := await self.limiter.take(action, priority):
            raise Later(wait)

    async def call(self, action: Action, ask: Callable[[], Awaitable[T]]) -> T:
        """What Slack answers to what was allowed. Too much all the same: everybody lets it be for as long as
        Slack says. Raises what ``ask`` does, and ``LeaseLost``, before anything is asked."""
        if self.guard.is_over:
            # By whom somebody may have replaced nothing is asked: an older edit must not land over a
            # newer one.
            raise LeaseLost(self.guard.lease.run_id, self.guard.lease.fence)
        try:
            return await ask()
        except RateLimited as error:
            await self.limiter.withhold(action, error.retry_after)
            raise
