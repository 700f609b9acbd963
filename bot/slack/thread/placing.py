"""One message, in a channel or a thread: posted, edited, or found again, whatever has become of it before."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Final

from agent.engine.guard import LeaseGuard
from agent.ports import Lease, Store, ThreadMessage
from bot.slack.ids import Address, Place, SlackUser
from bot.slack.limiter import Limiter, opening
from bot.slack.thread.asking import Asking
from bot.slack.thread.desired import Priority, Wanted
from bot.slack.thread.edge import SlackRefused, SlackThreads
from bot.slack.thread.editing import Editing
from bot.slack.thread.file_edge import SlackFiles
from bot.slack.thread.posting import Posting
from bot.slack.thread.readback import Bookmarks
from bot.slack.thread.rows import Rows
from bot.slack.thread.searching import Searching
from bot.slack.thread.uploading import Uploading, shows

log = logging.getLogger(__name__)

#: In place of the digest of what nobody wants to show anything.
_LEFT: Final = "left"


@dataclass(frozen=True, slots=True)
class Placing:
    """Puts messages of one run where they belong, for as long as its thread's lease is held. ``rows`` is
    what is known of them, and is kept up. Each method raises ``Later``, ``LeaseLost``, ``SlackRefused``,
    ``AnswerLost``, ``StoreUnavailable``."""

    store: Store
    slack: SlackThreads
    limiter: Limiter
    guard: LeaseGuard
    rows: dict[str, ThreadMessage]
    bookmarks: Bookmarks

    @property
    def lease(self) -> Lease:
        return self.guard.lease

    @property
    def _asking(self) -> Asking:
        return Asking(self.limiter, self.guard)

    @property
    def _searching(self) -> Searching:
        return Searching(self.slack, self._asking, self.bookmarks, self.store.clock)

    @property
    def _rows(self) -> Rows:
        return Rows(self.store, self.guard, self.rows)

    @property
    def _posting(self) -> Posting:
        return Posting(self.slack, self._asking, self._searching, self._rows)

    @property
    def _editing(self) -> Editing:
        return Editing(self.slack, self._asking, self._rows)

    @property
    def _uploading(self) -> Uploading:
        files = SlackFiles(self.slack.client)
        return Uploading(files, self._asking, self._searching, self._rows)

    def is_in_place(self, wanted: Wanted) -> bool:
        """Is nothing to be done for it?"""
        row = self.rows.get(wanted.key)
        if wanted.file is not None:
            return shows(row, wanted.file.binding) and not wanted.is_looked_at
        if row is None:
            return wanted.is_past
        is_same = wanted.is_shown_by(row) or (wanted.is_call_out and row.digest != "")
        return row.status == "posted" and is_same

    def has_leaked(self, key: str) -> bool:
        """May it stand in the channel instead of its thread? Then it is seen to before anything is posted."""
        row = self.rows.get(key)
        return row is not None and row.status == "posting" and row.address is not None

    async def place(self, wanted: Wanted, at: Place) -> None:
        """Have the message stand there as it is wanted; ``at`` without a thread is the channel itself."""
        if wanted.file is not None:
            await self._uploading.place(wanted, wanted.file, at)
            return
        row = self.rows.get(wanted.key)
        if row is not None and row.status == "posting":
            row = await self._posting.find(row, at)
            if row is None and wanted.is_past:
                await self._rows.forget(wanted.key)
        if row is None or row.address is None:
            if not wanted.is_past:
                await self._posting.post(wanted, at)
            return
        address = Address.of(row.address)
        if wanted.is_call_out:
            if row.status != "posted" or not row.digest:
                # It stands there: that is all of it, whatever may have become of its words.
                await self._rows.posted(wanted.key, wanted.digest, address)
            return
        is_shown = row.status == "posted" and wanted.is_shown_by(row)
        if not is_shown and not await self._editing.edit(wanted, row, address, at.team):
            await self._post_anew(wanted, at, address)

    async def _post_anew(self, wanted: Wanted, at: Place, gone: Address) -> None:
        """What is gone from there. Where it is refused its row stays if that alone tells that it is wanted there."""
        try:
            await self._posting.post(wanted, at)
        except SlackRefused:
            if wanted.to is not None:
                await self._rows.posted(wanted.key, "", gone)
            raise

    async def found(self, row: ThreadMessage, at: Place) -> ThreadMessage | None:
        """What became of a message that was on its way; None: it certainly does not stand there."""
        return await self._posting.find(row, at)

    async def give_up(self, wanted: Wanted) -> None:
        """It stays as it is, for good: whatever it shows counts as what is wanted."""
        row = self.rows.get(wanted.key)
        if row is not None and row.status != "posting" and row.address is not None:
            await self._rows.posted(wanted.key, wanted.digest, Address.of(row.address))
        elif row is not None:
            await self._rows.forget(wanted.key)

    async def leave(self, row: ThreadMessage) -> None:
        """Nobody wants it to show anything: whatever stands there may stand there."""
        if row.address is not None and Address.is_one(row.address) and row.status != "posting":
            await self._rows.posted(row.key, _LEFT, Address.of(row.address))
        else:
            await self._rows.forget(row.key)

    async def direct(self, user: SlackUser) -> Place:
        """Where only this user reads."""
        if (known := self.slack.known_direct_channel(user.user)) is not None:
            return Place(user.team, known)
        action = opening(user.team)
        await self._asking.allow(action, Priority.APPROVAL)
        ask = partial(self.slack.direct_channel, user.user)
        return Place(user.team, await self._asking.call(action, ask))

    async def find_lost(self, key: str, at: Place, *, since: datetime) -> None:
        """Take up a message of which no row is left, if it stands there."""
        log.warning("nothing is known of %s of %s; it is looked for", key, self.lease.run_id)
        if (found := await self._searching.find(key, at, since=since)) is not None:
            # What it shows nobody knows.
            await self._rows.posted(key, "", found)
