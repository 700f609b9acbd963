"""A message that can't be sent twice: its row says ``posting``, durably, before Slack is asked.

A row found in that state is read back before anything is posted again. One that has an address, too, may stand in
the channel, for everybody, instead of its thread: it is looked for there, and taken back if it is not in it.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from functools import partial
from typing import Final, NoReturn

from agent.errors import LeaseLost, StoreUnavailable
from agent.ports import ThreadMessage
from bot.slack.ids import Address, Place
from bot.slack.limiter import Action, deleting, posting
from bot.slack.thread.asking import Asking
from bot.slack.thread.desired import Priority, Wanted
from bot.slack.thread.edge import AnswerLost, RateLimited, Sent, SlackRefused, SlackThreads
from bot.slack.thread.readback import BELIEVED_AFTER, BELIEVED_AFTER_LOSS
from bot.slack.thread.rows import Rows
from bot.slack.thread.searching import Searching
from bot.slack.thread.setbacks import Later, is_lasting
from bot.slack.thread.wording import Wording

log = logging.getLogger(__name__)

#: The message may be on its way while we look; it is looked for again soon.
_LOOK_AGAIN: Final = 1.0
#: Seconds after each try to take back what stands there twice: the last one is made after half a minute, for which
#: Slack likes to be left alone.
_WITHDRAWN_AGAIN_AFTER: Final = (1.0, 2.0, 4.0, 8.0, 16.0, 0.0)


@dataclass(frozen=True, slots=True)
class Posting:
    """Posts messages of one run, and finds out what became of them. Each method raises ``Later``, ``LeaseLost``,
    ``SlackRefused``, ``AnswerLost``, ``StoreUnavailable``."""

    slack: SlackThreads
    asking: Asking
    searching: Searching
    rows: Rows

    async def post(self, wanted: Wanted, at: Place) -> None:
        """Have it stand there."""
        # The first message opens the thread: it is no mere status.
        urgency = min(wanted.priority, Priority.ANSWER)
        action = posting(at.team, at.channel)
        await self.asking.allow(action, urgency)
        await self.rows.posting(wanted.key, wanted.first_digest)
        try:
            sent, digest = await self._send(wanted, at, action)
        except (SlackRefused, Later):
            await self.rows.forget(wanted.key)
            raise
        except AnswerLost:
            # It counts from now: until now it was on its way.
            sent_by = self.rows.now - (BELIEVED_AFTER - BELIEVED_AFTER_LOSS)
            digest = self.rows.known[wanted.key].digest
            await self.rows.posting(wanted.key, digest, attempted_at=sent_by)
            raise Later(_LOOK_AGAIN) from None
        self.searching.bookmarks.heard(float(sent.address.ts), self.rows.now)
        try:
            await self._write_down(wanted.key, digest, sent, at)
        except LeaseLost:
            await self._withdraw(wanted.key, sent.address, at)
            raise

    async def find(self, row: ThreadMessage, at: Place) -> ThreadMessage | None:
        """The message as it was posted after all; None when it certainly was not."""
        if row.address is not None:
            await self._keep_or_take_back(row, Address.of(row.address), at)
            # Whoever has left all else undone because of it goes on.
            raise Later(0.0)
        if row.attempted_at > (now := self.rows.now):
            # The clock was set back: that must not make anybody wait until then.
            row = await self.rows.posting(row.key, row.digest, attempted_at=now)
        found, left = await self.searching.read_back(row.key, at, attempted_at=row.attempted_at)
        if found is not None:
            return await self.rows.posted(row.key, row.digest, found)
        if left > 0:
            raise Later(min(left, _LOOK_AGAIN))
        if at.thread_ts is not None:
            await self._take_back_unheard(row, Place(at.team, at.channel))
        return None

    async def _send(self, wanted: Wanted, at: Place, action: Action) -> tuple[Sent, str]:
        """And of what."""
        send = partial(
            self.slack.post, at.channel, at.thread_ts, run_id=self.rows.run_id, key=wanted.key
        )
        again = partial(self.rows.posting, wanted.key, wanted.digest_in_text)
        wording = Wording(self.asking, wanted, action, again)
        sent, is_in_text = await wording.say(wanted.message.first, send)
        return sent, wanted.digest_in_text if is_in_text else wanted.first_digest

    async def _write_down(self, key: str, digest: str, sent: Sent, at: Place) -> None:
        if sent.is_in_place:
            await self.rows.posted(key, digest, sent.address)
            return
        row = await self.rows.posting(key, digest, sent.address)
        await self._keep_or_take_back(row, sent.address, at)

    async def _keep_or_take_back(self, row: ThreadMessage, address: Address, at: Place) -> None:
        """It stays if it is in its thread. Nothing else is posted before that is known."""
        if not await self.searching.is_in_thread(address, at):
            await self._take_back(row.key, address, at)
        await self.rows.posted(row.key, row.digest, address)

    async def _take_back_unheard(self, row: ThreadMessage, channel: Place) -> None:
        """Where it stands in the channel, and whoever posted it has not heard of it."""
        attempted_at = row.attempted_at
        leaked, _ = await self.searching.read_back(row.key, channel, attempted_at=attempted_at)
        if leaked is not None:
            await self.rows.posting(row.key, row.digest, leaked)
            await self._take_back(row.key, leaked, channel)

    async def _take_back(self, key: str, address: Address, at: Place) -> NoReturn:
        """Nothing more is posted where there is no thread while what leaked from there stands in the
        channel; nor at once after that."""
        action = deleting(at.team)
        await self.asking.allow(action, Priority.APPROVAL)
        try:
            await self.asking.call(action, partial(self.slack.take_back, address))
        except SlackRefused as error:
            if not (is_lasting(error) or isinstance(error, RateLimited)):
                raise
            # What matters to who waits is that there is no thread.
            log.error("a message that leaked to %s can't be deleted: %s", address.channel, error)
            raise SlackRefused("thread_not_found") from error
        await self.rows.forget(key)
        raise SlackRefused("thread_not_found")

    async def _withdraw(self, key: str, address: Address, at: Place) -> None:
        """We were replaced while it was on its way. Where our successor has posted it, too, ours goes: nobody else
        knows of it."""
        for pause in _WITHDRAWN_AGAIN_AFTER:
            try:
                if not await self._stands_twice(key, address) or await self._is_withdrawn(
                    address, at
                ):
                    return
            except StoreUnavailable:
                log.info(
                    "whether %s of %s stands there twice is not known now", key, self.rows.run_id
                )
            except SlackRefused as error:
                log.warning("%s of %s stands there twice: %s", key, self.rows.run_id, error)
                return
            await asyncio.sleep(pause)
        log.warning("%s of %s may stand there twice: it is given up", key, self.rows.run_id)

    async def _stands_twice(self, key: str, address: Address) -> bool:
        theirs = (await self.rows.store.threads.known(self.rows.run_id)).messages.get(key)
        return theirs is not None and theirs.address not in (None, str(address))

    async def _is_withdrawn(self, address: Address, at: Place) -> bool:
        """False: worth another try. Raises ``SlackRefused`` where it is not, ``StoreUnavailable``."""
        action = deleting(at.team)
        if await self.asking.limiter.take(action, Priority.APPROVAL):
            return False
        try:
            await self.slack.take_back(address)
        except RateLimited as error:
            await self.asking.limiter.withhold(action, error.retry_after)
            return False
        except (SlackRefused, AnswerLost) as error:
            if is_lasting(error):
                raise
            return False
        return True
