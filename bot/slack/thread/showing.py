"""One thread, once: what is missing is posted, what differs is edited.

A post can't be repeated, so its row says ``posting``, durably, before Slack is asked. A row found in
that state is read back before anything is posted again. An edit can be repeated. A message that had been
shown, and of which no row is left, is read back too: rows can be lost.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from agent.engine.guard import LeaseGuard
from agent.errors import LeaseLost
from agent.ports import Lease, Store, ThreadMessage
from agent.rules.fold import fold
from agent.rules.state import RunState
from bot.slack.ids import Address, Place
from bot.slack.limiter import Limiter
from bot.slack.thread.desired import STATUS_KEY, Priority, Wanted, desired
from bot.slack.thread.edge import AnswerLost, SlackRefused, SlackThreads
from bot.slack.thread.readback import BELIEVED_AFTER, find_posted
from bot.slack.thread.setbacks import Later, Setbacks

log = logging.getLogger(__name__)

_BLOCKS_REFUSED: Final = {
    "invalid_blocks",
    "invalid_blocks_format",
    "invalid_arguments",
    "msg_too_long",
    "msg_blocks_too_long",
}
#: Nothing can be posted there either, until it is taken out of the archive.
_ARCHIVED: Final = {"is_archived", "is_inactive"}
_CANT_BE_EDITED: Final = {
    "message_not_found",
    "cant_update_message",
    "edit_window_closed",
    *_ARCHIVED,
}
#: The message may be on its way while we look; it is looked for again soon.
_LOOK_AGAIN: Final = 1.0


@dataclass
class Showing:
    """Draws one thread for as long as its lease is held. Raises ``Later``, ``LeaseLost``."""

    store: Store
    slack: SlackThreads
    limiter: Limiter
    setbacks: Setbacks
    guard: LeaseGuard
    state: RunState
    place: Place
    _rows: dict[str, ThreadMessage] = field(default_factory=dict)
    #: What had been shown and has no row any more; None: nobody needed to know yet.
    _lost: set[str] | None = None

    async def show(self) -> None:
        """Everything that is wanted; what can't be done now does not keep the rest waiting."""
        self._rows = await self.store.threads.messages(self.lease.run_id)
        waits: list[float] = []
        for wanted in desired(self.state):
            try:
                await self._show(wanted)
            except (SlackRefused, AnswerLost) as error:
                later = self.setbacks.met(self.lease.run_id, error)
            except Later as limit:
                later = limit
            else:
                continue
            waits.append(later.seconds)
            if later.stops or self._is_awaited(wanted):
                break
        if waits:
            raise Later(min(waits))

    @property
    def lease(self) -> Lease:
        return self.guard.lease

    def _must_hold(self) -> None:
        """Slack is asked nothing by whom somebody may have replaced: an older edit must not land
        over a newer one."""
        if self.guard.is_over:
            raise LeaseLost(self.lease.run_id, self.lease.fence)

    @property
    def _thread_ts(self) -> str | None:
        """The root of the thread; None while its first message opens it."""
        root = self._rows.get(STATUS_KEY)
        if self.place.thread_ts or root is None or root.address is None:
            return self.place.thread_ts
        return Address.of(root.address).ts

    def _is_awaited(self, wanted: Wanted) -> bool:
        """Nothing may be posted before it: it opens the thread, or the answer goes on after it."""
        return self._thread_ts is None or wanted.leads

    async def _show(self, wanted: Wanted) -> None:
        row = self._rows.get(wanted.key)
        if row is None and not wanted.is_past and await self._is_lost(wanted.key):
            row = await self._find_lost(wanted.key)
        if row is not None and row.status == "posting":
            row = await self._read_back(row)
        if row is None or row.address is None:
            if not wanted.is_past:
                await self._post(wanted)
        elif row.digest != wanted.digest and not wanted.is_call_out:
            await self._edit(wanted, Address.of(row.address))

    async def _read_back(self, row: ThreadMessage) -> ThreadMessage | None:
        """The message as it was posted after all; None when it certainly was not."""
        found = await self._find(row.key, since=row.attempted_at)
        if found is not None:
            return await self._save(row.key, row.digest, found)
        left = (row.attempted_at + BELIEVED_AFTER - self.store.clock.now()).total_seconds()
        if left > 0:
            raise Later(min(left, _LOOK_AGAIN))
        return None

    async def _is_lost(self, key: str) -> bool:
        """Had it been shown when the thread was last let go of?"""
        if self._lost is None:
            run_id = self.lease.run_id
            if shown := await self.store.threads.shown_seq(run_id):
                events = await self.store.journal.read(run_id)
                before = desired(fold(events[:shown]))
                self._lost = {one.key for one in before if not one.is_past} - self._rows.keys()
            else:
                self._lost = set()
        return key in self._lost

    async def _find_lost(self, key: str) -> ThreadMessage | None:
        """The message as it stands in the thread; None when it is not there."""
        log.warning("nothing is known of %s of %s; it is looked for", key, self.lease.run_id)
        found = await self._find(key, since=self.state.started_at)
        # What it shows nobody knows.
        return None if found is None else await self._save(key, "", found)

    async def _find(self, key: str, *, since: datetime) -> Address | None:
        place = (self.place.channel, self._thread_ts)
        return await find_posted(self.slack, *place, run_id=self.lease.run_id, key=key, since=since)

    async def _post(self, wanted: Wanted) -> None:
        # The first message opens the thread: it is no mere status.
        urgency = min(wanted.priority, Priority.ANSWER)
        if wait := self.limiter.take_post(self.place.channel, urgency):
            raise Later(wait)
        await self._save(wanted.key, wanted.digest, None)
        self._must_hold()
        try:
            address = await self._send(wanted)
        except SlackRefused:
            await self.store.threads.forget(self.lease, wanted.key)
            del self._rows[wanted.key]
            raise
        except AnswerLost:
            # Ten seconds count from now: until now it was on its way.
            await self._save(wanted.key, wanted.digest, None)
            raise Later(_LOOK_AGAIN) from None
        await self._save(wanted.key, wanted.digest, address)

    async def _send(self, wanted: Wanted) -> Address:
        first = wanted.message.first
        place, ids = (self.place.channel, self._thread_ts), (self.lease.run_id, wanted.key)
        try:
            return await self.slack.post(
                *place, first.text, first.blocks, run_id=ids[0], key=ids[1]
            )
        except SlackRefused as error:
            if error.code not in _BLOCKS_REFUSED:
                raise
            self._note_refused_blocks(wanted, error)
            text = wanted.message.without_blocks
            return await self.slack.post(*place, text, (), run_id=ids[0], key=ids[1])

    async def _edit(self, wanted: Wanted, address: Address) -> None:
        if wait := self.limiter.take_update(wanted.priority):
            raise Later(wait)
        self._must_hold()
        try:
            await self._replace(wanted, address)
        except SlackRefused as error:
            if error.code not in _CANT_BE_EDITED or (wanted.is_open and error.code in _ARCHIVED):
                raise
            log.info("%s of %s can't be edited: %s", wanted.key, self.lease.run_id, error.code)
            if wanted.is_open:
                await self._post(wanted)
                return
        # What is gone counts as shown: nobody waits for it, and it is not posted again.
        await self._save(wanted.key, wanted.digest, address)

    async def _replace(self, wanted: Wanted, address: Address) -> None:
        message = wanted.message
        try:
            await self.slack.update(address, message.text, message.blocks)
        except SlackRefused as error:
            if error.code not in _BLOCKS_REFUSED:
                raise
            self._note_refused_blocks(wanted, error)
            await self.slack.update(address, message.without_blocks, ())

    async def _save(self, key: str, digest: str, address: Address | None) -> ThreadMessage:
        row = ThreadMessage(
            key=key,
            status="posting" if address is None else "posted",
            address=None if address is None else str(address),
            digest=digest,
            attempted_at=self.store.clock.now(),
            doubts=self._rows[key].doubts if key in self._rows else 0,
        )
        await self.store.threads.save(self.lease, row)
        self._rows[key] = row
        return row

    def _note_refused_blocks(self, wanted: Wanted, error: SlackRefused) -> None:
        log.error(
            "Slack does not take the blocks of %s of %s (%s); its text is shown alone",
            wanted.key,
            self.lease.run_id,
            error.code,
        )
