"""One message that grows: begun, added to, and ended, by whichever process.

Its row's digest begins with ``stream:`` while it grows, and says what Slack has been sent. That it is being begun is
written down before Slack is asked: what was not heard of is looked for before anything is begun or posted again.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Final, TypeVar

from agent.ports import ThreadMessage
from bot.slack.cards.blocks import Block
from bot.slack.cards.live import Chunk, Page, mark
from bot.slack.ids import Address, Place
from bot.slack.limiter import Action, appending, deleting, starting_stream, stopping_stream
from bot.slack.thread.asking import Asking
from bot.slack.thread.desired import Priority
from bot.slack.thread.edge import AnswerLost, SlackRefused
from bot.slack.thread.native import Native, NativeStatus, Refused
from bot.slack.thread.placing import Placing
from bot.slack.thread.readback import BELIEVED_AFTER, BELIEVED_AFTER_LOSS
from bot.slack.thread.rows import Rows
from bot.slack.thread.setbacks import Later, is_lasting
from bot.slack.thread.stream_edge import SlackStreams

T = TypeVar("T")
log = logging.getLogger(__name__)

#: Slack ends a stream by itself after some five minutes, and leaves it looking as if something had gone wrong.
STREAMED_FOR: Final = timedelta(minutes=4)
_ENDED_BY_SLACK_AFTER: Final = timedelta(minutes=6)
_HAS_ENDED: Final = "message_not_in_streaming_state"
_WITHIN_SECONDS: Final = 5.0
#: For so long it is tried to have an answer stand in it; what was sent by then lands within the time after that, or
#: never.
_LED_FOR: Final = timedelta(seconds=8)
_LANDS_WITHIN: Final = timedelta(seconds=_WITHIN_SECONDS) + BELIEVED_AFTER_LOSS
_LOOK_AGAIN: Final = 1.0
_STREAMS: Final = "streaming"
#: Begins the digest of what grows; then, behind colons, how many of the answer's blocks it holds, how far its tasks
#: were, and since when it is tried to have the answer stand in it.
_GROWS: Final = "stream"


def grows(row: ThreadMessage) -> bool:
    """May more be added to it, as far as we know?"""
    return row.status == "posted" and row.digest.startswith(f"{_GROWS}:")


def grows_until(row: ThreadMessage) -> datetime:
    """When it is ended, before Slack does so."""
    return row.attempted_at + STREAMED_FOR


def answer_blocks_in(row: ThreadMessage) -> int:
    """How many of the answer's blocks it holds."""
    return int(row.digest.split(":")[1])


def letters_in(row: ThreadMessage) -> str:
    """How far its tasks were when Slack was last told."""
    return row.digest.split(":")[2]


def led_since(row: ThreadMessage) -> datetime | None:
    """When it was first tried to have the answer stand in it."""
    said = row.digest.split(":")[3:]
    return datetime.fromtimestamp(float(said[0]), UTC) if said else None


def address_of(row: ThreadMessage) -> Address:
    """Where it stands."""
    return Address.of(row.address or "")


@dataclass(frozen=True, slots=True)
class Growing:
    """The messages of one run that grow, for whoever holds its thread's lease. Each method raises ``Later``,
    ``AnswerLost``, ``LeaseLost``, ``StoreUnavailable``."""

    streams: SlackStreams
    asking: Asking
    rows: Rows
    placing: Placing
    native: Native
    refused: Refused
    at: Place

    async def begin(self, page: Page, answer: Sequence[Block] = ()) -> ThreadMessage | None:
        """With the page's tasks, or the beginning of the answer. None: Slack takes none now, and nothing stands
        there."""
        priority = Priority.ANSWER if answer else Priority.STATUS
        action = starting_stream(self.at.team)
        if self.refused.is_let_be(_STREAMS, self.at) or await self.asking.limiter.take(
            action, priority
        ):
            return None
        chunks = page.chunks(self.rows.run_id) or [self._beginning(page, answer)]
        digest = _digest(0 if page.tasks else 1, page)
        await self.rows.posting(page.key, digest)
        try:
            address = await self._ask(action, partial(self.streams.start, self.at, chunks))
        except AnswerLost:
            # It counts from now: until now it was on its way.
            sent_by = self.rows.now - (BELIEVED_AFTER - BELIEVED_AFTER_LOSS)
            await self.rows.posting(page.key, digest, attempted_at=sent_by)
            # Where that is always so, nothing would ever be said.
            self.refused.met(_STREAMS, self.at, "its answer was lost")
            raise Later(_LOOK_AGAIN) from None
        except SlackRefused as error:
            await self.rows.forget(page.key)
            if is_lasting(error):
                self.refused.met(_STREAMS, self.at, error.code)
            return None
        row = await self.rows.posted(page.key, digest, address)
        await self.native.note("processing")
        return row

    async def found(self, row: ThreadMessage | None) -> ThreadMessage | None:
        """What became of one that was on its way. Raises ``SlackRefused``, too."""
        if row is None or row.status != "posting":
            return row
        found = await self.placing.found(row, self.at)
        if found is None:
            await self.rows.forget(row.key)
        return found

    async def append(self, row: ThreadMessage, page: Page) -> bool:
        """What has changed. False: it takes nothing any more. Raises ``SlackRefused``, too."""
        chunks = page.chunks(self.rows.run_id, letters_in(row))
        if not chunks:
            return True
        action = appending(self.at.team)
        await self.asking.allow(action, Priority.STATUS)
        try:
            await self._ask(action, partial(self.streams.append, address_of(row), chunks))
        except SlackRefused as error:
            if not is_lasting(error):
                raise
            log.info("%s of %s grows no more: %s", row.key, self.rows.run_id, error.code)
            return False
        digest = _digest(answer_blocks_in(row), page)
        await self.rows.posted(row.key, digest, address_of(row), since=row.attempted_at)
        return True

    async def lead(
        self,
        row: ThreadMessage,
        page: Page,
        status: NativeStatus,
        *,
        key: str,
        blocks: Sequence[Block],
    ) -> bool:
        """Have it end as the answer of this ``key``, with the ``blocks`` that it does not hold yet. False: as far as
        Slack has said it does not show them, and what was sent to it does not land any more. Raises ``SlackRefused``,
        too."""
        since, now = led_since(row), self.rows.now
        if since is None:
            # Written down first: what is tried again later may have been done now.
            digest = f"{row.digest}:{now.timestamp()}"
            row = await self.rows.posted(row.key, digest, address_of(row), since=row.attempted_at)
        elif (tried_for := now - since) >= _LED_FOR:
            if tried_for < _LED_FOR + _LANDS_WITHIN:
                raise Later((_LED_FOR + _LANDS_WITHIN - tried_for).total_seconds())
            return False
        shows_all = await self.end(row, page, status, key=key, blocks=blocks)
        if not shows_all and not answer_blocks_in(row):
            await self.rows.posted(row.key, "", address_of(row))
        return shows_all

    async def take_back(self, row: ThreadMessage) -> None:
        """It holds the beginning of what stands elsewhere. Raises ``SlackRefused``, too."""
        action, address = deleting(self.at.team), address_of(row)
        await self.asking.allow(action, Priority.ANSWER)
        try:
            await self._ask(action, partial(self.placing.slack.take_back, address))
        except SlackRefused as error:
            if not is_lasting(error):
                raise
            log.info("%s of %s can't be taken back: %s", row.key, self.rows.run_id, error.code)
            await self.rows.posted(row.key, "", address)
        else:
            await self.rows.forget(row.key)

    async def end(
        self,
        row: ThreadMessage,
        page: Page,
        status: NativeStatus,
        *,
        key: str,
        blocks: Sequence[Block] = (),
    ) -> bool:
        """It grows no more, as far as Slack says. Does it show all of this, as the message of this ``key``? Raises
        ``SlackRefused``, too."""
        chunks = page.chunks(self.rows.run_id, letters_in(row))
        # Where Slack takes no more into it, it is at least ended.
        for as_key, *more in ((key, chunks, blocks), (row.key, (), ())):
            try:
                await self._stop(row, as_key, status, *more)
            except SlackRefused as error:
                if not is_lasting(error):
                    raise
                log.info("%s of %s is not ended: %s", row.key, self.rows.run_id, error.code)
                if error.code == _HAS_ENDED:
                    return False
            except (AnswerLost, Later):
                # By then Slack has ended it.
                if self.rows.now < row.attempted_at + _ENDED_BY_SLACK_AFTER:
                    raise
                return False
            else:
                return more == [chunks, blocks]
        return False

    async def _stop(
        self,
        row: ThreadMessage,
        key: str,
        status: NativeStatus,
        chunks: Sequence[Chunk],
        blocks: Sequence[Block],
    ) -> None:
        action, run_id = stopping_stream(self.at.team), self.rows.run_id
        await self.asking.allow(action, Priority.APPROVAL)
        stop = partial(self.streams.stop, address_of(row), chunks, blocks, run_id=run_id, key=key)
        await self._ask(action, partial(stop, status=status))
        await self.native.note(status)

    def _beginning(self, page: Page, answer: Sequence[Block]) -> Chunk:
        """Of an answer before which nothing was done."""
        marked = {**answer[0], "block_id": mark(self.rows.run_id, page.key, "answer")}
        return {"type": "blocks", "blocks": [marked]}

    async def _ask(self, action: Action, ask: Callable[[], Awaitable[T]]) -> T:
        """What is slow is as good as lost: whoever is to be asked is not kept waiting for it."""
        try:
            async with asyncio.timeout(_WITHIN_SECONDS):
                return await self.asking.call(action, ask)
        except TimeoutError:
            raise AnswerLost("too slow") from None


def _digest(answer_blocks: int, page: Page) -> str:
    return f"{_GROWS}:{answer_blocks}:{page.letters}"
