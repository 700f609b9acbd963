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
from bot.slack.thread.edge import Posted, SlackRefused

#: "Not there" is believed only this long after the attempt: Slack may still be about to post.
BELIEVED_AFTER: Final = timedelta(seconds=10)
#: Slack's clock and the store's may differ.
_CLOCKS_DIFFER: Final = timedelta(minutes=5)
_PAGES: Final = 50
#: By then somebody else may have looked, and posted what was not there.
_GONE_ON_WITH_WITHIN: Final = timedelta(minutes=10)
_KEPT: Final = 1000


@dataclass(frozen=True, slots=True)
class Sought:
    """A message that carries this run and key in its metadata, posted not long before ``since`` or later, and
    not long after ``until``."""

    run_id: RunId
    key: str
    since: datetime
    until: datetime | None = None

    @property
    def oldest(self) -> str:
        return f"{(self.since - _CLOCKS_DIFFER).timestamp():.6f}"

    @property
    def latest(self) -> str | None:
        return None if self.until is None else f"{(self.until + _CLOCKS_DIFFER).timestamp():.6f}"


@dataclass(slots=True)
class Bookmark:
    """How far it has been looked for."""

    begun_at: datetime
    cursor: str | None = None
    pages: int = 0


@dataclass
class Bookmarks:
    """Of what this process looks for."""

    _known: dict[Sought, Bookmark] = field(default_factory=dict)

    def of(self, sought: Sought, now: datetime) -> Bookmark:
        """Where it is gone on with, or a new one."""
        known = self._known.get(sought)
        if known is None or now > known.begun_at + _GONE_ON_WITH_WITHIN:
            if len(self._known) >= _KEPT:
                self._known.clear()
            known = self._known[sought] = Bookmark(now)
        return known

    def drop(self, sought: Sought) -> None:
        """It has been looked for."""
        self._known.pop(sought, None)


#: The page that begins at this cursor, and where the next one does.
ReadPage = Callable[[str | None], Awaitable[tuple[list[Posted], str | None]]]


async def find_posted(read_page: ReadPage, sought: Sought, bookmark: Bookmark) -> Address | None:
    """The message. Raises what ``read_page`` does; ``bookmark`` says how far it has come."""
    while bookmark.pages < _PAGES:
        try:
            page, cursor = await read_page(bookmark.cursor)
        except SlackRefused as error:
            if error.code == "thread_not_found":
                return None
            if error.code == "invalid_cursor":
                bookmark.cursor, bookmark.pages = None, 0
            raise
        for posted in page:
            if (posted.run_id, posted.key) == (sought.run_id, sought.key):
                return posted.address
        if cursor is None:
            return None
        bookmark.cursor, bookmark.pages = cursor, bookmark.pages + 1
    return None
