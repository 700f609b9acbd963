"""The message that opens a run's thread, posted before the run begins: where it can't stand, none does.

It is written down first that it is being posted (``Openings``). Whoever dies before the run has begun leaves that
behind, and others see to it that the message says so (``abandoned``).
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import Final

from agent.engine.guard import LeaseGuard
from agent.errors import LeaseLost, StoreError
from agent.ports import Lease, Store, ThreadMessage
from agent.rules.events import RunStarted
from agent.rules.fold import fold
from agent.rules.ids import EventId, RunId
from agent.rules.recorded import Recorded
from bot.slack.ids import Address, Place
from bot.slack.limiter import Limiter, deleting, posting
from bot.slack.thread.asking import Asking
from bot.slack.thread.desired import Priority, Wanted, desired
from bot.slack.thread.edge import AnswerLost, RateLimited, Sent, SlackRefused, SlackThreads
from bot.slack.thread.keys import STATUS_KEY
from bot.slack.thread.readback import BELIEVED_AFTER_LOSS, Bookmarks
from bot.slack.thread.searching import Searching
from bot.slack.thread.setbacks import Later
from bot.slack.thread.wording import Wording

log = logging.getLogger(__name__)

#: So long after it was begun others give it up: longer than all that is waited for here.
GIVEN_UP_AFTER: Final = timedelta(minutes=2)
#: Seconds for which whoever asked for the run waits until Slack allows it.
_PATIENCE: Final = 20.0
_LOOK_AGAIN: Final = 1.0
#: In place of Slack's word, where it has not answered.
NO_ANSWER: Final = "no_answer"


class NotOpened(Exception):
    """The message does not stand there, or nobody may know of it: ``code`` is Slack's word for why."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


def first_status(
    run_id: RunId, started: RunStarted, now: datetime, *, names_agent: bool = False
) -> Wanted:
    """The status message of a run that begins so."""
    first = Recorded(run_id, 1, EventId("first"), now, "", started)
    status, *_ = desired(fold([first]), names_agent=names_agent)
    return status


def asking_for(run_id: RunId, limiter: Limiter, begun_at: datetime) -> Asking:
    """Asks Slack about the message that opens the thread of this run, for as long as nobody gives that up."""
    lease = Lease(run_id, "opening", 0, begun_at + GIVEN_UP_AFTER)
    return Asking(limiter, LeaseGuard(lease, GIVEN_UP_AFTER, monotonic=limiter.monotonic))


@dataclass(frozen=True, slots=True)
class Opener:
    """Opens the thread of one run."""

    store: Store
    slack: SlackThreads
    asking: Asking
    wanted: Wanted
    #: The channel.
    at: Place
    bookmarks: Bookmarks = field(default_factory=Bookmarks)

    @property
    def run_id(self) -> RunId:
        return self.asking.guard.lease.run_id

    async def post(self) -> ThreadMessage:
        """The message as it stands. Raises ``NotOpened``, ``StoreUnavailable``."""
        await self.store.openings.begin(self.run_id, str(self.at))
        try:
            address, digest = await self._stand()
        except (SlackRefused, LeaseLost) as error:
            await self.store.openings.forget(self.run_id)
            raise NotOpened(error.code if isinstance(error, SlackRefused) else NO_ANSWER) from error
        return ThreadMessage(STATUS_KEY, "posted", str(address), digest, self.store.clock.now())

    async def take_back(self, root: ThreadMessage) -> None:
        """The run has not begun. What can't be done now is left to others."""
        address, action = Address.of(root.address or ""), deleting(self.at.team)
        try:
            try:
                await self.asking.allow(action, Priority.APPROVAL)
            except StoreError:
                log.info("what Slack still allows is not known, and it is asked all the same")
            await self.asking.call(action, partial(self.slack.take_back, address))
            await self.store.openings.forget(self.run_id)
        except (Later, LeaseLost, SlackRefused, AnswerLost, StoreError) as error:
            log.warning("the thread of %s is taken back later: %s", self.run_id, error)

    async def _stand(self) -> tuple[Address, str]:
        """Where it stands, and the digest of what it shows. Raises ``SlackRefused``, ``LeaseLost``, ``NotOpened``."""
        try:
            sent, is_in_text = await self._send()
        except AnswerLost:
            found = await self._read_back()
            if found is None:
                # It may come yet: then it is not ours any more, and says so.
                raise NotOpened(NO_ANSWER) from None
            # Which of its forms it has nobody knows: it is drawn again.
            return found, ""
        return sent.address, self.wanted.digest_in_text if is_in_text else self.wanted.first_digest

    async def _send(self) -> tuple[Sent, bool]:
        action, loop = posting(self.at.team, self.at.channel), asyncio.get_running_loop()
        send = partial(self.slack.post, self.at.channel, None, run_id=self.run_id, key=STATUS_KEY)
        wording = Wording(self.asking, self.wanted, action, _nothing)
        until = loop.time() + _PATIENCE
        while True:
            try:
                # It opens the thread: it is no mere status.
                await self.asking.allow(action, Priority.ANSWER)
                return await wording.say(self.wanted.message.first, send)
            except (Later, RateLimited) as limit:
                wait = limit.seconds if isinstance(limit, Later) else limit.retry_after
            if loop.time() + wait > until:
                raise RateLimited("ratelimited", wait)
            await asyncio.sleep(wait)

    async def _read_back(self) -> Address | None:
        """None: it was not there when that is to be believed, or Slack does not say."""
        lost_at = self.store.clock.now()
        searching = Searching(self.slack, self.asking, self.bookmarks, self.store.clock)
        while True:
            try:
                found, left = await searching.read_back(
                    STATUS_KEY, self.at, attempted_at=lost_at, believed_after=BELIEVED_AFTER_LOSS
                )
            except LeaseLost:
                # Others have given it up, or do: they look for it.
                return None
            except (Later, SlackRefused, AnswerLost) as error:
                log.info("whether the thread of %s is open is not known: %s", self.run_id, error)
                found, left = None, _left(lost_at, self.store.clock.now())
            if found is not None or left <= 0:
                return found
            await asyncio.sleep(min(left, _LOOK_AGAIN))


def _left(lost_at: datetime, now: datetime) -> float:
    return (lost_at + BELIEVED_AFTER_LOSS - now).total_seconds()


async def _nothing() -> None:
    """There is no row of it yet."""
