"""Looks for a message of a run, a page at a time, as Slack allows."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

from agent.ports import Clock
from bot.slack.ids import Address, Place
from bot.slack.limiter import reading
from bot.slack.thread.asking import Asking
from bot.slack.thread.desired import Priority
from bot.slack.thread.edge import Page, SlackRefused, SlackThreads
from bot.slack.thread.readback import BELIEVED_AFTER, Bookmark, Bookmarks, Sought, find_posted

#: Seconds by which the page begins before what is looked for.
_JUST_BEFORE = 0.001


@dataclass(frozen=True, slots=True)
class Searching:
    """For whoever holds the lease of ``asking``. Each method raises ``Later``, ``LeaseLost``,
    ``SlackRefused``, ``AnswerLost``."""

    slack: SlackThreads
    asking: Asking
    bookmarks: Bookmarks
    clock: Clock

    async def find(
        self, key: str, at: Place, *, since: datetime, file: str | None = None
    ) -> Address | None:
        """The message, or the one that shows this file, whenever since then it was posted."""
        sought = self._sought(key, at, since, file=file)
        return await self._find(sought, at)

    async def read_back(
        self,
        key: str,
        at: Place,
        *,
        attempted_at: datetime,
        file: str | None = None,
        believed_after: timedelta = BELIEVED_AFTER,
    ) -> tuple[Address | None, float]:
        """The message, or the one that shows this file, as it was posted after all; else the seconds until that is
        to be believed."""
        believed_at = attempted_at + believed_after
        sought = self._sought(key, at, attempted_at, believed_at, file)
        left = (believed_at - self.clock.now()).total_seconds()
        # Before that it may be posted to a page that has been read.
        return await self._find(sought, at, is_gone_on_with=left <= 0), left

    async def is_in_thread(self, address: Address, at: Place) -> bool:
        """Does it stand in the thread in which it was to?"""
        if at.thread_ts is None:
            return False
        oldest = f"{float(address.ts) - _JUST_BEFORE:.6f}"
        try:
            page = await self._page(at, oldest=oldest)
        except SlackRefused as error:
            if error.code == "thread_not_found":
                return False
            raise
        return any(one.address.ts == address.ts for one in page.messages)

    def _sought(
        self,
        key: str,
        at: Place,
        since: datetime,
        until: datetime | None = None,
        file: str | None = None,
    ) -> Sought:
        return Sought(self.asking.guard.lease.run_id, key, at.thread_ts, since, until, file)

    async def _find(
        self, sought: Sought, at: Place, *, is_gone_on_with: bool = True
    ) -> Address | None:
        """``is_gone_on_with``: where it was cut off before, and from there if it is cut off now."""
        while True:
            # By what the answers say of Slack's clock it may have been looked for in the wrong time.
            bookmark = self._bookmark(sought, is_gone_on_with)
            clocks = bookmark.clocks
            read_page = partial(
                self._page_from,
                at=at,
                oldest=clocks.oldest(sought),
                latest=clocks.latest(sought),
            )
            found = await find_posted(read_page, sought, bookmark)
            self.bookmarks.drop(sought)
            if found is not None or clocks.agree_with(self.bookmarks.clocks):
                return found

    def _bookmark(self, sought: Sought, is_gone_on_with: bool) -> Bookmark:
        now = self.clock.now()
        return self.bookmarks.of(sought, now) if is_gone_on_with else self.bookmarks.new(now)

    async def _page_from(
        self, cursor: str | None, *, at: Place, oldest: str, latest: str | None
    ) -> Page:
        return await self._page(at, oldest=oldest, latest=latest, cursor=cursor)

    async def _page(
        self, at: Place, *, oldest: str, latest: str | None = None, cursor: str | None = None
    ) -> Page:
        action = reading(at.team, is_thread=at.thread_ts is not None)
        # Whoever is waited for may not be posted before it.
        await self.asking.allow(action, Priority.APPROVAL)
        ask = partial(
            self.slack.page, at.channel, at.thread_ts, oldest=oldest, latest=latest, cursor=cursor
        )
        page = await self.asking.call(action, ask)
        if page.said_at is not None:
            self.bookmarks.heard(page.said_at, self.clock.now())
        return page
