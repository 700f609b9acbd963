"""After a lost answer: is the message there?

What Slack allows may end between two pages: then it is gone on with from there, or it would never end.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from agent.rules.ids import RunId
from bot.slack.ids import Address
from bot.slack.thread.edge import AnswerLost, Page, Posted, SlackRefused

#: "Not there" is believed only this long after the attempt: whoever made it waits for an answer for fifteen
#: seconds, and Slack may still be about to post.
BELIEVED_AFTER: Final = timedelta(seconds=20)
#: And only this long after it has become known that no answer comes.
BELIEVED_AFTER_LOSS: Final = timedelta(seconds=10)
#: Slack's clock and the store's may differ by so much more than is known, in seconds.
_CLOCKS_DIFFER: Final = 300.0
#: Where more than that becomes known, it is looked for in that time, too.
_CLOCKS_AGREE: Final = 60.0
#: A hundred thousand messages.
_PAGES: Final = 500
#: By then somebody else may have looked, and posted what was not there.
_GONE_ON_WITH_WITHIN: Final = timedelta(minutes=10)
_KEPT: Final = 1000


@dataclass(frozen=True, slots=True)
class Sought:
    """A message that carries this run and key in its metadata, posted to this thread, or to the channel itself,
    not long before ``since`` or later, and not long after ``until``."""

    run_id: RunId
    key: str
    thread_ts: str | None
    since: datetime
    until: datetime | None = None
    #: Or that shows this file: Slack lets nobody write metadata to its message.
    file: str | None = None

    def is_it(self, posted: Posted) -> bool:
        """Is this the one?"""
        if self.file is not None:
            return self.file in posted.files
        return (posted.run_id, posted.key) == (self.run_id, self.key)


@dataclass(frozen=True, slots=True)
class Clocks:
    """By how many seconds Slack's clock has been ahead of the store's, at least and at most."""

    least: float = 0.0
    most: float = 0.0

    def heard(self, said_at: float, now: datetime) -> Clocks:
        """And once more by so many."""
        ahead = said_at - now.timestamp()
        return Clocks(min(self.least, ahead), max(self.most, ahead))

    def agree_with(self, later: Clocks) -> bool:
        """Has nothing become known since then by which it must be looked for in another time?"""
        earlier, more = self.least - later.least, later.most - self.most
        return max(earlier, more) <= _CLOCKS_AGREE

    def oldest(self, sought: Sought) -> str:
        """What was posted before cannot be it, by Slack's clock."""
        return _ts(sought.since.timestamp() + self.least - _CLOCKS_DIFFER)

    def latest(self, sought: Sought) -> str | None:
        """What was posted later can't be it either."""
        if sought.until is None:
            return None
        return _ts(sought.until.timestamp() + self.most + _CLOCKS_DIFFER)


@dataclass(slots=True)
class Bookmark:
    """How far it has been looked for, and in which time."""

    used_at: datetime
    clocks: Clocks
    cursor: str | None = None
    pages: int = 0


@dataclass
class Bookmarks:
    """Of what this process looks for."""

    clocks: Clocks = field(default_factory=Clocks)
    _known: dict[Sought, Bookmark] = field(default_factory=dict)

    def new(self, now: datetime) -> Bookmark:
        """For what is looked for from the start."""
        return Bookmark(now, self.clocks)

    def of(self, sought: Sought, now: datetime) -> Bookmark:
        """Where it is gone on with, or a new one."""
        known = self._known.get(sought)
        if known is None or now > known.used_at + _GONE_ON_WITH_WITHIN:
            if len(self._known) >= _KEPT:
                self._known.clear()
            known = self._known[sought] = self.new(now)
        known.used_at = now
        return known

    def heard(self, said_at: float, now: datetime) -> None:
        """Slack's clock has said so."""
        self.clocks = self.clocks.heard(said_at, now)

    def drop(self, sought: Sought) -> None:
        """It has been looked for."""
        self._known.pop(sought, None)


#: The page that begins at this cursor.
ReadPage = Callable[[str | None], Awaitable[Page]]


async def find_posted(read_page: ReadPage, sought: Sought, bookmark: Bookmark) -> Address | None:
    """The message; None where it is not. Raises what ``read_page`` does, and ``AnswerLost`` where there is no end
    to what is to be read; ``bookmark`` says how far it has come."""
    while bookmark.pages < _PAGES:
        try:
            page = await read_page(bookmark.cursor)
        except SlackRefused as error:
            if error.code == "thread_not_found":
                return None
            if error.code == "invalid_cursor":
                bookmark.cursor, bookmark.pages = None, 0
            raise
        for posted in page.messages:
            if sought.is_it(posted):
                return posted.address
        if page.cursor is None:
            return None
        bookmark.cursor, bookmark.pages = page.cursor, bookmark.pages + 1
    bookmark.cursor, bookmark.pages = None, 0
    raise AnswerLost("there is no end to what was said where it is looked for")


def _ts(seconds: float) -> str:
    return f"{max(seconds, 0.0):.6f}"
