"""In a direct message a message grows while the run is at work: its progress, and then the answer.

Its end is an ordinary message, made by an edit what it is to be; so is one that Slack has ended by itself. What is
asked goes first: whatever grows is ended before a card is posted, and no card waits for that. Where Slack takes no
streams all is posted and edited as elsewhere.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Final

from agent.ports import ThreadMessage
from agent.rules.state import RunState
from bot.slack.cards.live import LIVE_KEY, Page, is_at_work, newest_page, pages
from bot.slack.ids import Place
from bot.slack.thread.asking import Asking
from bot.slack.thread.desired import Priority, Wanted
from bot.slack.thread.edge import AnswerLost, SlackRefused
from bot.slack.thread.growing import (
    Growing,
    address_of,
    answer_blocks_in,
    grows,
    grows_until,
    led_since,
)
from bot.slack.thread.keys import answer_key
from bot.slack.thread.native import Native, NativeStatus, Refused, native_status
from bot.slack.thread.placing import Placing
from bot.slack.thread.rows import Rows
from bot.slack.thread.setbacks import Later, is_lasting
from bot.slack.thread.stream_edge import SlackStreams

log = logging.getLogger(__name__)

#: Begins the digest of what was ended with all that is known of its tasks.
_ENDED: Final = "streamed"


@dataclass(frozen=True, slots=True)
class Streaming:
    """Of one run, for whoever holds its thread's lease. ``come_back`` says when after what Slack has said. Each method
    raises ``LeaseLost``, ``StoreUnavailable``."""

    growing: Growing
    state: RunState
    is_blocked: bool
    come_back: Callable[[str, SlackRefused | AnswerLost], Later]

    @classmethod
    def of(
        cls,
        placing: Placing,
        refused: Refused,
        state: RunState,
        at: Place,
        is_blocked: bool,
        come_back: Callable[[str, SlackRefused | AnswerLost], Later],
    ) -> Streaming | None:
        """None where nothing is streamed: in a channel one person would see it grow, and all others nothing."""
        if not at.channel.startswith("D") or at.thread_ts is None:
            return None
        asking, streams = Asking(placing.limiter, placing.guard), SlackStreams(placing.slack.client)
        rows = Rows(placing.store, placing.guard, placing.rows)
        native = Native(streams, asking, rows, refused)
        growing = Growing(streams, asking, rows, placing, native, refused, at)
        return cls(growing, state, is_blocked, come_back)

    async def pause(self) -> list[float]:
        """End what grows, before anybody is asked. The seconds after which what could not be done is tried again."""
        if self._is_at_work or self.state.is_ended:
            return []
        waits: list[float] = []
        for row in self._live_rows:
            if grows(row):
                waits += await self._tried(row.key, partial(self._end, row))
        return waits

    async def go_on(self) -> list[float]:
        """Show how far the run is. The seconds after which what could not be done is tried again."""
        waits: list[float] = []
        for row in self._live_rows:
            waits += await self._tried(row.key, partial(self._tend, row))
        page = newest_page(self.state)
        if self._is_at_work and page.tasks and page.key not in self._rows.known:
            waits += await self._tried(page.key, partial(self.growing.begin, page))
        await self.growing.native.tell(self._status, self.growing.at)
        return waits

    @property
    def look_again(self) -> datetime | None:
        """When something has grown for long enough."""
        return min((grows_until(row) for row in self._live_rows if grows(row)), default=None)

    def takes(self, wanted: Wanted) -> bool:
        """Is it the answer, and not there yet?"""
        is_answer = wanted.key == answer_key(self.state.reopened) and not wanted.is_past
        return is_answer and wanted.key not in self._rows.known

    async def lead(self, wanted: Wanted) -> None:
        """Have the answer arrive in what grows, where Slack and its size let it: then its row says where it stands,
        and that nobody knows what it shows. Else it is posted by itself. Raises ``Later``, ``SlackRefused``,
        ``AnswerLost``."""
        page, blocks = newest_page(self.state), wanted.message.first.blocks
        row = await self.growing.found(self._rows.known.get(page.key))
        if row is None and blocks and page.holds(blocks):
            row = await self.growing.begin(page, blocks)
        if row is None or not grows(row):
            return
        if not page.holds(blocks):
            # Where that can't be done now, the answer does not wait for it.
            await self._tried(row.key, partial(self._end, row))
            return
        rest, status = blocks[answer_blocks_in(row) :], self._status
        if await self.growing.lead(row, page, status, key=wanted.key, blocks=rest):
            # Whatever it shows by now, an edit makes it what it is to be.
            await self._rows.posted(wanted.key, "", address_of(row))
        elif led_since(row) is not None:
            await self._look_for(wanted.key, row)
        if wanted.key in self._rows.known:
            await self._rows.forget(row.key)
        elif answer_blocks_in(row):
            await self.growing.take_back(row)

    async def _look_for(self, key: str, row: ThreadMessage) -> None:
        """It may have become the message of this key when that was tried before."""
        try:
            await self.growing.placing.find_lost(key, self.growing.at, since=row.attempted_at)
        except SlackRefused as error:
            if not is_lasting(error):
                raise
            # Better twice than never.
            log.warning("%s of %s can't be looked for: %s", key, self._rows.run_id, error.code)

    async def _tend(self, known: ThreadMessage) -> None:
        row = await self.growing.found(known)
        if row is None:
            return
        if self._has_become_the_answer(row):
            await self._rows.forget(row.key)
        elif not grows(row):
            await self._settle(row.key)
        elif self._is_at_work and not self._is_over(row):
            if not await self.growing.append(row, self._page(row.key)):
                await self._end(row)
        elif not self._waits_for_the_answer:
            await self._end(row)

    async def _end(self, row: ThreadMessage) -> None:
        page, key = self._page(row.key), row.key
        shows_all = await self.growing.end(row, page, self._status, key=key)
        digest = f"{_ENDED}:{page.letters}" if shows_all else ""
        await self._rows.posted(key, digest, address_of(row))
        await self._settle(key)

    async def _settle(self, key: str) -> None:
        """What has ended shows how far its calls are."""
        page, row, placing = self._page(key), self._rows.known[key], self.growing.placing
        wanted = Wanted(key, page.message, Priority.STATUS, is_past=True)
        if row.digest == f"{_ENDED}:{page.letters}" or placing.is_in_place(wanted):
            return
        try:
            await placing.place(wanted, self.growing.at)
        except SlackRefused as error:
            if not is_lasting(error):
                raise
            log.info("%s of %s stays as it is: %s", key, self._rows.run_id, error.code)
            await placing.give_up(wanted)

    async def _tried(self, key: str, work: Callable[[], Awaitable[object]]) -> list[float]:
        try:
            await work()
        except Later as later:
            return [later.seconds]
        except (SlackRefused, AnswerLost) as error:
            return [self.come_back(key, error).seconds]
        return []

    @property
    def _rows(self) -> Rows:
        return self.growing.rows

    @property
    def _is_at_work(self) -> bool:
        return is_at_work(self.state) and not self.is_blocked

    @property
    def _status(self) -> NativeStatus:
        return native_status(self.state, is_blocked=self.is_blocked)

    @property
    def _live_rows(self) -> list[ThreadMessage]:
        return [row for key, row in self._rows.known.items() if key.startswith(LIVE_KEY)]

    def _page(self, key: str) -> Page:
        return pages(self.state).get(key, Page(key, ()))

    def _is_over(self, row: ThreadMessage) -> bool:
        return row.key != newest_page(self.state).key or self._rows.now >= grows_until(row)

    @property
    def _waits_for_the_answer(self) -> bool:
        """It is tried again to have the answer arrive in it."""
        is_there = answer_key(self.state.reopened) in self._rows.known
        return self.state.is_ended and not is_there

    def _has_become_the_answer(self, row: ThreadMessage) -> bool:
        others = (one for key, one in self._rows.known.items() if key != row.key)
        return any(one.address == row.address for one in others)
