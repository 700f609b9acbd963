"""How often what people say to each other may have us look at what opened their thread.

Slack lets an app look into only so many threads a minute, all of its processes together. Where much is talked, each
thread would take one of these, and nothing were left for who speaks to us.
"""

from __future__ import annotations

from typing import Any

from bot.slack.ids import Address
from bot.slack.limiter import reading_for_asides
from bot.slack.roots.under_way import UnderWay
from bot.slack.services import Services
from bot.slack.thread.desired import Priority


async def may_look(services: Services, root: Address, looking: UnderWay[Any]) -> bool:
    """Is a look at the root left for them, or is one under way in ``looking``? Where this process has no access nothing
    is used up, and the look itself says so. Raises ``StoreUnavailable``."""
    if root in looking or services.limiter.held:
        return True
    return await services.roots.allowing.once(root, lambda: _is_left(services))


async def _is_left(services: Services) -> bool:
    action = reading_for_asides((await services.people.home()).team)
    return not await services.limiter.take(action, Priority.STATUS)
