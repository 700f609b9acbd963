"""One message, in a channel or a thread: posted, edited, or found again.

A post can't be repeated, so its row says ``posting``, durably, before Slack is asked. A row found in
that state is read back before anything is posted again; one that has an address, too, stands where it must
not, and is taken back first. An edit can be repeated; but one that was sent and not
heard of may still land, over whatever has been sent since. So its row says ``editing``, and one found in that
state is made at once, and once more when nothing can land any more.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Final, NoReturn

from agent.engine.guard import LeaseGuard
from agent.errors import LeaseLost
from agent.ports import Lease, MessageStatus, Store, ThreadMessage
from bot.slack.ids import Address, Place, SlackUser
from bot.slack.limiter import Action, Limiter, deleting, editing, opening, posting
from bot.slack.thread.asking import Asking
from bot.slack.thread.desired import Priority, Wanted
from bot.slack.thread.edge import (
    AnswerLost,
    Leaked,
    RateLimited,
    SlackRefused,
    SlackThreads,
)
from bot.slack.thread.readback import Bookmarks
from bot.slack.thread.searching import Searching
from bot.slack.thread.setbacks import Later, is_lasting

log = logging.getLogger(__name__)

_BLOCKS_REFUSED: Final = {
    "invalid_blocks",
    "invalid_blocks_format",
    "invalid_arguments",
    "msg_too_long",
    "msg_blocks_too_long",
}
_CANT_BE_EDITED: Final = {"message_not_found", "cant_update_message", "edit_window_closed"}
#: An edit whose answer did not come lands within this time, or never.
_LANDS_WITHIN: Final = timedelta(seconds=20)
#: The message may be on its way while we look; it is looked for again soon.
_LOOK_AGAIN: Final = 1.0


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

    def is_in_place(self, wanted: Wanted) -> bool:
        """Is nothing to be done for it?"""
        row = self.rows.get(wanted.key)
        if row is None:
            return wanted.is_past
        is_same = row.digest == wanted.digest or (wanted.is_call_out and row.digest != "")
        return row.status == "posted" and is_same

    def has_leaked(self, key: str) -> bool:
        """Does it stand in the channel instead of its thread, still to be taken back?"""
        row = self.rows.get(key)
        return row is not None and row.status == "posting" and row.address is not None

    async def place(self, wanted: Wanted, at: Place) -> None:
        """Have the message stand there as it is wanted; ``at`` without a thread is the channel itself."""
        row = self.rows.get(wanted.key)
        if row is not None and row.status == "posting":
            if row.address is not None:
                await self._take_back(row.key, Address.of(row.address), at)
            row = await self._read_back(row, at)
            if row is None and wanted.is_past:
                await self._forget(wanted.key)
        if row is None or row.address is None:
            if not wanted.is_past:
                await self._post(wanted, at)
        elif wanted.is_call_out:
            if not row.digest:
                # It stands there: that is all of it, whatever may have become of its words.
                await self._settle(wanted, Address.of(row.address))
        elif row.digest != wanted.digest:
            await self._edit(wanted, row, Address.of(row.address), at)

    async def give_up(self, wanted: Wanted) -> None:
        """It stays as it is, for good: whatever it shows counts as what is wanted."""
        row = self.rows.get(wanted.key)
        if row is not None and row.status != "posting" and row.address is not None:
            await self._settle(wanted, Address.of(row.address))
        elif row is not None:
            await self._forget(wanted.key)

    async def direct(self, user: SlackUser) -> Place:
        """Where only this user reads."""
        action = opening(user.team)
        await self._asking.allow(action, Priority.APPROVAL)
        ask = partial(self.slack.direct_channel, user.user)
        return Place(user.team, await self._asking.call(action, ask))

    async def find_lost(self, key: str, at: Place, *, since: datetime) -> None:
        """Take up a message of which no row is left, if it stands there."""
        log.warning("nothing is known of %s of %s; it is looked for", key, self.lease.run_id)
        if (found := await self._searching.find(key, at, since=since)) is not None:
            # What it shows nobody knows.
            await self._save(key, "", found)

    async def _read_back(self, row: ThreadMessage, at: Place) -> ThreadMessage | None:
        """The message as it was posted after all; None when it certainly was not."""
        found, left = await self._searching.read_back(row.key, at, attempted_at=row.attempted_at)
        if found is not None:
            return await self._save(row.key, row.digest, found)
        if left > 0:
            raise Later(min(left, _LOOK_AGAIN))
        return None

    async def _post(self, wanted: Wanted, at: Place) -> None:
        # The first message opens the thread: it is no mere status.
        urgency = min(wanted.priority, Priority.ANSWER)
        action = posting(at.team, at.channel)
        await self._asking.allow(action, urgency)
        await self._save(wanted.key, wanted.digest, None)
        try:
            address = await self._send(wanted, at, action)
        except Leaked as error:
            await self._save(wanted.key, wanted.digest, error.address, status="posting")
            if isinstance(why := error.__cause__, RateLimited):
                await self.limiter.withhold(deleting(at.team), why.retry_after)
            raise
        except (SlackRefused, Later):
            await self._forget(wanted.key)
            raise
        except AnswerLost:
            # Ten seconds count from now: until now it was on its way.
            await self._save(wanted.key, wanted.digest, None)
            raise Later(_LOOK_AGAIN) from None
        await self._save(wanted.key, wanted.digest, address)

    async def _take_back(self, key: str, address: Address, at: Place) -> NoReturn:
        """Nothing more is posted where there is no thread while what leaked from there stands in the
        channel; nor at once after that."""
        action = deleting(at.team)
        await self._asking.allow(action, Priority.APPROVAL)
        try:
            await self._asking.call(action, partial(self.slack.take_back, address))
        except SlackRefused as error:
            if is_lasting(error):
                raise Leaked(address) from error
            raise
        await self._forget(key)
        raise SlackRefused("thread_not_found")

    async def _send(self, wanted: Wanted, at: Place, action: Action) -> Address:
        """Posted with its blocks, or with its text alone where Slack does not take them."""
        first = wanted.message.first
        send = partial(
            self.slack.post,
            at.channel,
            at.thread_ts,
            run_id=self.lease.run_id,
            key=wanted.key,
        )
        try:
            return await self._asking.call(action, partial(send, first.text, first.blocks))
        except SlackRefused as error:
            await self._allow_text(wanted, error, action)
            text = wanted.message.without_blocks
            return await self._asking.call(action, partial(send, text, ()))

    async def _edit(self, wanted: Wanted, row: ThreadMessage, address: Address, at: Place) -> None:
        action = editing(at.team)
        await self._asking.allow(action, wanted.priority)
        in_doubt = row.attempted_at if row.status == "editing" else None
        # Whatever is still on its way has landed by the time after which this one can't any more.
        await self._save(wanted.key, "", address, editing_since=self._now)
        try:
            await self._replace(wanted, address, action)
        except (SlackRefused, Later) as error:
            # Nothing of this one is on its way.
            await self._save(wanted.key, "", address, editing_since=in_doubt)
            if not (isinstance(error, SlackRefused) and error.code in _CANT_BE_EDITED):
                raise
            log.info("%s of %s can't be edited: %s", wanted.key, self.lease.run_id, error.code)
            if wanted.is_open:
                await self._post(wanted, at)
                return
        if in_doubt is not None and (left := in_doubt + _LANDS_WITHIN - self._now) > timedelta():
            await self._save(wanted.key, "", address, editing_since=in_doubt)
            raise Later(left.total_seconds())
        # What is gone counts as shown: nobody waits for it, and it is not posted again.
        await self._settle(wanted, address)

    async def _settle(self, wanted: Wanted, address: Address) -> None:
        """It shows what is wanted; unless somebody has replaced us meanwhile: then it may show less than they
        had it show, and is to be drawn again."""
        try:
            await self._save(wanted.key, wanted.digest, address)
        except LeaseLost:
            await self.store.threads.doubt(self.lease.run_id, wanted.key)
            raise

    async def _replace(self, wanted: Wanted, address: Address, action: Action) -> None:
        message = wanted.message
        replace = partial(self.slack.update, address)
        try:
            await self._asking.call(action, partial(replace, message.text, message.blocks))
        except SlackRefused as error:
            await self._allow_text(wanted, error, action)
            await self._save(wanted.key, "", address, editing_since=self._now)
            await self._asking.call(action, partial(replace, message.without_blocks, ()))

    async def _allow_text(self, wanted: Wanted, error: SlackRefused, action: Action) -> None:
        """Once more, without blocks, if it was they that Slack did not take; else it is raised."""
        if error.code not in _BLOCKS_REFUSED:
            raise error
        log.error(
            "Slack does not take the blocks of %s of %s (%s); its text is shown alone",
            wanted.key,
            self.lease.run_id,
            error.code,
        )
        # What has been begun is ended, or the same two calls would be made again and again.
        await self._asking.allow(action, Priority.APPROVAL)

    async def _forget(self, key: str) -> None:
        await self.store.threads.forget(self.lease, key)
        del self.rows[key]

    async def _save(
        self,
        key: str,
        digest: str,
        address: Address | None,
        *,
        editing_since: datetime | None = None,
        status: MessageStatus | None = None,
    ) -> ThreadMessage:
        usual: MessageStatus = "posting" if address is None else "posted"
        row = ThreadMessage(
            key=key,
            status=status or (usual if editing_since is None else "editing"),
            address=None if address is None else str(address),
            digest=digest,
            attempted_at=editing_since or self._now,
            doubts=self.rows[key].doubts if key in self.rows else 0,
        )
        await self.store.threads.save(self.lease, row)
        self.rows[key] = row
        return row

    @property
    def _now(self) -> datetime:
        return self.store.clock.now()
