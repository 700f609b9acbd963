"""Looks for a message of a run, a page at a time, as Slack allows."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from functools import partial

from agent.ports import Clock
from bot.slack.ids import Address, Place
from bot.slack.limiter import reading
from bot.slack.thread.asking import Asking
from bot.slack.thread.desired import Priority
from bot.slack.thread.edge import Posted, SlackThreads
from bot.slack.thread.readback import BELIEVED_AFTER, Bookmark, Bookmarks, Sought, find_posted


@dataclass(frozen=True, slots=True)
class Searching:
    """For whoever holds the lease of ``asking``. Each method raises ``Later``, ``LeaseLost``,
    ``SlackRefused``, ``AnswerLost``."""

    slack: SlackThreads
    asking: Asking
    bookmarks: Bookmarks
    clock: Clock

    async def find(self, key: str, at: Place, *, since: datetime) -> Address | None:
        """The message, whenever since then it was posted."""
        sought = Sought(self.asking.guard.lease.run_id, key, since)
        return await self._find(sought, at, self.bookmarks.of(sought, self.clock.now()))

    async def read_back(
        self, key: str, at: Place, *, attempted_at: datetime
    ) -> tuple[Address | None, float]:
        """The message as it was posted after all; else the seconds until that is to be believed."""
        now, believed_at = self.clock.now(), attempted_at + BELIEVED_AFTER
        sought = Sought(self.asking.guard.lease.run_id, key, attempted_at, believed_at)
        left = (believed_at - now).total_seconds()
        # Before that it may be posted to a page that has been read.
        bookmark = Bookmark(now) if left > 0 else self.bookmarks.of(sought, now)
        return await self._find(sought, at, bookmark), left

    async def _find(self, sought: Sought, at: Place, bookmark: Bookmark) -> Address | None:
        action = reading(at.team, is_thread=at.thread_ts is not None)

        async def read_page(cursor: str | None) -> tuple[list[Posted], str | None]:
            # Whoever is waited for may not be posted before it.
            await self.asking.allow(action, Priority.APPROVAL)
            ask = partial(
                self.slack.page,
                at.channel,
                at.thread_ts,
                oldest=sought.oldest,
                latest=sought.latest,
                cursor=cursor,
            )
            return await self.asking.call(action, ask)

        found = await find_posted(read_page, sought, bookmark)
        self.bookmarks.drop(sought)
        return found
