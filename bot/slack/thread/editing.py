"""A message that is changed. That can be repeated; but an edit that was sent and not heard of may still land, over
whatever has been sent since.

So its row says ``editing``, durably, before Slack is asked, and one found in that state is made at once, and once
more when nothing can land any more: between the two the row knows what it shows, and it is made again only where
something else is wanted. One that a click redraws is left to it, until it is known what became of that, or for a moment
at most: whoever was to send it may be gone. Whoever was replaced while its own was on its way doubts the message.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Final

from agent.errors import LeaseLost
from agent.ports import ANNOUNCED, ThreadMessage
from bot.slack.ids import Address
from bot.slack.limiter import Action, editing
from bot.slack.thread.asking import Asking
from bot.slack.thread.desired import Wanted
from bot.slack.thread.digests import IN_TEXT, NOT_EDITABLE, unknown
from bot.slack.thread.edge import AnswerLost, SlackRefused, SlackThreads
from bot.slack.thread.rows import Rows
from bot.slack.thread.setbacks import Later
from bot.slack.thread.wording import Wording

log = logging.getLogger(__name__)

_GONE: Final = "message_not_found"
_CANT_BE_EDITED: Final = {_GONE, "cant_update_message", "edit_window_closed"}
#: An edit whose answer did not come lands within this time, or never.
_LANDS_WITHIN: Final = timedelta(seconds=20)
#: For so long a message is left to the click that redraws it.
_LEFT_FOR: Final = timedelta(seconds=3)


@dataclass(frozen=True, slots=True)
class Editing:
    """Edits messages of one run. Raises ``Later``, ``LeaseLost``, ``SlackRefused``, ``AnswerLost``,
    ``StoreUnavailable``."""

    slack: SlackThreads
    asking: Asking
    rows: Rows

    async def edit(self, wanted: Wanted, row: ThreadMessage, address: Address, team: str) -> bool:
        """Have it show what is wanted. False: it is gone, and still needed."""
        self._wait_where_it_is_redrawn(row)
        self._wait_where_it_shows(wanted, row)
        action = editing(team)
        await self.asking.allow(action, wanted.priority)
        now = self.rows.now
        # The clock may have been set back: that must not make anybody wait until then.
        in_doubt = min(row.attempted_at, now) if row.status == "editing" else None
        # Whatever is still on its way has landed by the time after which this one can't any more.
        row = await self.rows.editing(wanted.key, address, since=now, digest=unknown(row))
        try:
            return await self._edit(wanted, row, address, action, in_doubt)
        except LeaseLost:
            # It may have been put over what our successor had it show, also where that is not known.
            await self.rows.store.threads.doubt(self.rows.run_id, wanted.key)
            raise

    async def _edit(
        self,
        wanted: Wanted,
        row: ThreadMessage,
        address: Address,
        action: Action,
        in_doubt: datetime | None,
    ) -> bool:
        digest = wanted.digest
        try:
            if await self._replace(wanted, address, action):
                digest = wanted.digest_in_text
        except AnswerLost:
            await self.rows.still(wanted.key)
            raise
        except (SlackRefused, Later) as error:
            await self._nothing_sent(row, address, in_doubt)
            if not (isinstance(error, SlackRefused) and error.code in _CANT_BE_EDITED):
                raise
            log.info("%s of %s can't be edited: %s", wanted.key, self.rows.run_id, error.code)
            if wanted.is_open and error.code == _GONE:
                return False
            if error.code != _GONE:
                digest = wanted.digest_as(row) + NOT_EDITABLE
        if in_doubt is not None:
            await self._until_landed(wanted.key, digest, address, in_doubt)
        # What is gone counts as shown: nobody waits for it, and it is not posted again. So does what can't be edited:
        # what became of a question is said below it.
        await self.rows.posted(wanted.key, digest, address)
        return True

    async def _replace(self, wanted: Wanted, address: Address, action: Action) -> bool:
        """Was it in text alone?"""

        async def again() -> None:
            await self.rows.editing(wanted.key, address, since=self.rows.now, digest=IN_TEXT)

        wording = Wording(self.asking, wanted, action, again)
        _, is_in_text = await wording.say(wanted.message, partial(self.slack.update, address))
        return is_in_text

    async def _nothing_sent(
        self, row: ThreadMessage, address: Address, in_doubt: datetime | None
    ) -> None:
        """Of this edit nothing is on its way; of one before it something may be."""
        if in_doubt is None:
            await self.rows.posted(row.key, unknown(row), address)
        else:
            await self.rows.editing(row.key, address, since=in_doubt, digest=unknown(row))

    def _wait_where_it_is_redrawn(self, row: ThreadMessage) -> None:
        """Whoever redraws it says in a moment whether that has landed."""
        if row.status == "editing" and row.digest == ANNOUNCED:
            self._wait_until(row.attempted_at, _LEFT_FOR)

    def _wait_where_it_shows(self, wanted: Wanted, row: ThreadMessage) -> None:
        """What is wanted, and only what was sent before may land over it yet: Slack has nothing to be asked."""
        if row.status == "editing" and wanted.is_shown_by(row):
            self._wait_until(row.attempted_at, _LANDS_WITHIN)

    def _wait_until(self, since: datetime, time: timedelta) -> None:
        now = self.rows.now
        # As of a clock that was set back it would be waited for too long.
        if since <= now < since + time:
            raise Later((since + time - now).total_seconds())

    async def _until_landed(
        self, key: str, digest: str, address: Address, in_doubt: datetime
    ) -> None:
        """What was sent then may land yet: come back when it can't any more."""
        left = in_doubt + _LANDS_WITHIN - self.rows.now
        if left > timedelta():
            await self.rows.editing(key, address, since=in_doubt, digest=digest)
            raise Later(left.total_seconds())
