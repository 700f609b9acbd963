"""One thread, once: everything that is wanted is put in its place, and who asked is told where it can't be.

A message that had been shown, and of which no row is left, is looked for before it is posted: rows can be
lost. A row that says of no message where it stands is none.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Final

from agent.engine.guard import LeaseGuard
from agent.ports import KnownThread, Lease, Store, ThreadMessage
from agent.rules.fold import fold
from agent.rules.ids import ApprovalId
from agent.rules.recorded import Recorded
from agent.rules.state import RunState
from bot.slack.cards.elsewhere import is_channel
from bot.slack.cards.message import Message
from bot.slack.ids import Address, Place, SlackUser
from bot.slack.limiter import Limiter
from bot.slack.thread.addressees import Addressees
from bot.slack.thread.desired import (
    STATUS_KEY,
    Standing,
    Wanted,
    desired,
)
from bot.slack.thread.edge import AnswerLost, SlackRefused, SlackThreads
from bot.slack.thread.elsewhere import Elsewhere, are_any, keys_in_channels
from bot.slack.thread.placing import Placing
from bot.slack.thread.readback import Bookmarks
from bot.slack.thread.refusals import Target
from bot.slack.thread.setbacks import Later, Setbacks, is_lasting
from bot.slack.thread.troubles import Troubles

log = logging.getLogger(__name__)

#: So long after its end a run's last words are tried again where they can't be posted.
_LAST_WORDS: Final = timedelta(days=1)


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
    known: KnownThread
    #: Those that ``state`` is folded from.
    events: Sequence[Recorded]
    addressees: Addressees
    #: Why nobody takes the run on.
    blocked: Mapping[str, str] | None = None
    bookmarks: Bookmarks = field(default_factory=Bookmarks)
    _rows: dict[str, ThreadMessage] = field(default_factory=dict)
    #: What had been shown and has no row any more; None: nobody needed to know yet.
    _lost: set[str] | None = None
    #: Slack's first word for why something is not taken, until somebody does something about it.
    _refused: str | None = None

    async def show(self) -> None:
        """Everything that is wanted; what can't be done now does not keep the rest waiting."""
        self.setbacks.asked_for(self.lease.run_id, self.place.channel, self.known.tries)
        self._rows = {
            key: row
            for key, row in self.known.messages.items()
            if row.address is None or Address.is_one(row.address)
        }
        waits: list[float] = []
        elsewhere, standing = await self._put_elsewhere(waits)
        everything = desired(self.state, self.blocked, standing)
        leaked = [one for one in everything if self._placing.has_leaked(one.key)]
        for wanted in leaked or everything:
            if (later := await self._put(wanted)) is None:
                continue
            waits.append(later.seconds)
            has_leaked = self._placing.has_leaked(wanted.key)
            if later.stops or has_leaked or self._is_awaited(wanted):
                break
        waits += await elsewhere.tell() if elsewhere else []
        waits += await self._troubles.tell(self._refused)
        if waits:
            raise Later(min(waits))

    async def _put_elsewhere(
        self, waits: list[float]
    ) -> tuple[Elsewhere | None, Mapping[ApprovalId, Standing]]:
        """What does not stand in the thread, once that is open: it leads back to it."""
        if not are_any(self.state):
            return None, {}
        if self._thread.thread_ts is None:
            await self._put(desired(self.state, self.blocked)[0])
        thread_ts = self._thread.thread_ts
        root = Address(self._thread.channel, thread_ts) if thread_ts else None
        elsewhere = Elsewhere(
            state=self.state,
            rows=self._rows,
            addressees=self.addressees,
            put=self._put,
            why_refused=self._why_refused,
            link=await self.addressees.link(root) if root else None,
        )
        standing, later = await elsewhere.show()
        waits += later
        return elsewhere, standing

    async def _put(self, wanted: Wanted) -> Later | None:
        """When it is tried again; None: it is done with, or nothing was to do."""
        if self._placing.is_in_place(wanted) or self._was_given_up(wanted):
            return None
        return await self._try(wanted)

    def _why_refused(self, wanted: Wanted) -> str | None:
        error, _ = self.setbacks.refusals.left(self._target(wanted))
        return error.code if error else None

    async def _try(self, wanted: Wanted) -> Later | None:
        """When it is tried again; None: it is done with."""
        target = self._target(wanted)
        error, left = self.setbacks.refusals.left(target)
        later = Later(left)
        if error is None:
            try:
                await self._show(wanted)
            except (SlackRefused, AnswerLost) as met:
                later = self._come_back(target, met)
                if is_lasting(met):
                    error = met
                else:
                    return later
            except Later as limit:
                return limit
            else:
                self.setbacks.refusals.taken(target)
                return None
        if wanted.to is None:
            self._refused = self._refused or str(error)
        if self._is_given_up:
            log.info("%s of %s stays untold: %s", wanted.key, self.state.run_id, error)
            await self._placing.give_up(wanted)
            return None
        return later

    @property
    def lease(self) -> Lease:
        return self.guard.lease

    @property
    def _placing(self) -> Placing:
        return Placing(self.store, self.slack, self.limiter, self.guard, self._rows, self.bookmarks)

    @property
    def _troubles(self) -> Troubles:
        return Troubles(self.store, self._placing, self.setbacks, self.state, self.known)

    @property
    def _thread(self) -> Place:
        """The thread; the channel itself, while its first message has to open it."""
        root = self._rows.get(STATUS_KEY)
        if self.place.thread_ts or root is None or root.address is None:
            return self.place
        opened = Address.of(root.address)
        return Place(self.place.team, opened.channel, opened.ts)

    def _target(self, wanted: Wanted) -> Target:
        return Target(self.lease.run_id, wanted.key, wanted.to or self._thread.channel)

    async def _where(self, wanted: Wanted) -> Place:
        """Where it stands, or is to stand."""
        row = self._rows.get(wanted.key)
        if wanted.to is None:
            return self._thread
        if is_channel(wanted.to):
            above = self._rows.get(wanted.below) if wanted.below else None
            thread_ts = Address.of(above.address).ts if above and above.address else None
            return Place(self.place.team, wanted.to, thread_ts)
        if row is not None and row.address is not None:
            return Place(self.place.team, Address.of(row.address).channel)
        return await self._placing.direct(SlackUser(self.place.team, wanted.to))

    def _come_back(self, target: Target, error: SlackRefused | AnswerLost) -> Later:
        return self.setbacks.met(target, error, is_awaited=bool(self.state.open_approvals))

    @property
    def _is_given_up(self) -> bool:
        """Has it ended too long ago for anybody to be told still?"""
        ended_at = self.state.ended_at
        return ended_at is not None and self.store.clock.now() > ended_at + _LAST_WORDS

    def _was_given_up(self, wanted: Wanted) -> bool:
        """Did it stay untold when the thread was let go of? Then it is neither looked for nor posted."""
        is_let_go = self.known.shown_seq >= self.state.seq
        return self._is_given_up and is_let_go and wanted.key not in self._rows

    def _is_awaited(self, wanted: Wanted) -> bool:
        """Nothing may be posted before it: it opens the thread, or the answer goes on after it."""
        return self._thread.thread_ts is None or wanted.leads

    async def _show(self, wanted: Wanted) -> None:
        at = await self._where(wanted)
        if wanted.key not in self._rows and not wanted.is_past and self._is_lost(wanted.key):
            await self._placing.find_lost(wanted.key, at, since=self.state.started_at)
        if wanted.is_quiet and wanted.key not in self._rows and not wanted.is_past:
            first = wanted.message.first
            unnamed = Message(first.text, first.blocks, plain=wanted.message.plain)
            await self._placing.place(replace(wanted, message=unnamed), at)
        await self._placing.place(wanted, at)

    def _is_lost(self, key: str) -> bool:
        """Had it been shown when the thread was last let go of?"""
        if self._lost is None:
            if shown := self.known.shown_seq:
                before = fold(self.events[:shown])
                keys = {one.key for one in desired(before) if not one.is_past}
                self._lost = (keys | keys_in_channels(before)) - self._rows.keys()
            else:
                self._lost = set()
            self._lost |= self.known.messages.keys() - self._rows.keys()
        return key in self._lost
