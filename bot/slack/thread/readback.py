"""After a lost answer: is the message there?"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from typing import Final

from bot.slack.ids import Address
from bot.slack.thread.edge import Posted, SlackRefused

#: "Not there" is believed only this long after the attempt: Slack may still be about to post.
BELIEVED_AFTER: Final = timedelta(seconds=10)
#: Slack's clock and the store's may differ.
_CLOCKS_DIFFER: Final = timedelta(minutes=5)
_PAGES: Final = 50


#: A page of messages since ``oldest``, from ``cursor`` on, and where the next one begins.
ReadPage = Callable[[str, str | None], Awaitable[tuple[list[Posted], str | None]]]


async def find_posted(
    read_page: ReadPage, *, run_id: str, key: str, since: datetime
) -> Address | None:
    """The message that carries this run and key in its metadata, posted not long before ``since``
    or later. Raises what ``read_page`` does."""
    oldest = f"{(since - _CLOCKS_DIFFER).timestamp():.6f}"
    cursor: str | None = None
    for _ in range(_PAGES):
        try:
            page, cursor = await read_page(oldest, cursor)
        except SlackRefused as error:
            if error.code == "thread_not_found":
                return None
            raise
        for posted in page:
            if (posted.run_id, posted.key) == (run_id, key):
                return posted.address
        if cursor is None:
            return None
    return None
