"""One thread, once: everything that is wanted is put in its place, and who asked is told where it can't be.

A message that had been shown, and of which no row is left, is looked for before it is posted: rows can be
lost. A row that says of no message where it stands is none.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final

from agent.engine.guard import LeaseGuard
from agent.ports import KnownThread, Lease, Store, ThreadMessage
from agent.rules.fold import fold
from agent.rules.ids import ApprovalId
from agent.rules.recorded import Recorded
from agent.rules.state import RunState
from bot.slack.cards.in_full import FileStanding
from bot.slack.cards.live import LIVE_KEY
from bot.slack.ids import Address, Place
from bot.slack.limiter import Limiter
from bot.slack.thread.addressees import Addressees
from bot.slack.thread.calling import is_said
from bot.slack.thread.closed import said_below
from bot.slack.thread.desired import Priority, Wanted, desired, rung_for
from bot.slack.thread.digests import unknown
from bot.slack.thread.edge import AnswerLost, SlackRefused, SlackThreads
from bot.slack.thread.elsewhere import (
    Elsewhere,
    are_any,
    channels_of,
    keys_in_channels,
    not_known_yet,
)
from bot.slack.thread.files import Files
from bot.slack.thread.keys import STATUS_KEY, answer_key
from bot.slack.thread.linking import links_to_cards, links_to_words
from bot.slack.thread.looking import Looks
from bot.slack.thread.native import Refused
from bot.slack.thread.notes_anew import notes_anew
from bot.slack.thread.placing import Placing
from bot.slack.thread.readback import Bookmarks
from bot.slack.thread.refusals import Target
from bot.slack.thread.setbacks import Later, Setbacks, is_lasting
from bot.slack.thread.standing import Standing
from bot.slack.thread.streaming import Streaming
from bot.slack.thread.troubles import Troubles
from bot.slack.thread.whereabouts import Whereabouts

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
    #: Of Slack's own surface for agents, on which nothing depends.
    refused: Refused
    #: Why nobody takes the run on.
    blocked: Mapping[str, str] | None = None
    #: Are there several agents, so that the thread says whose run it is?
    names_agent: bool = False
    bookmarks: Bookmarks = field(default_factory=Bookmarks)
    _rows: dict[str, ThreadMessage] = field(default_factory=dict)
    #: What had been shown and has no row any more; None: nobody needed to know yet.
    _lost: set[str] | None = None
    #: Slack's word for why a message is not taken, until somebody does something about it, by its key.
    _refused: dict[str, str] = field(default_factory=dict)
    #: The same of what keeps all behind it from being tried.
    _in_the_way: str | None = None
    #: Slack takes no file of a long answer: it is told in messages alone.
    _is_answer_split: bool = False
    #: The approvals to which people are about to be called.
    _ringing: set[ApprovalId] = field(default_factory=set)
    _links: Mapping[ApprovalId, str] = field(default_factory=dict)
    _words_at: Mapping[str, str] = field(default_factory=dict)

    async def show(self) -> datetime | None:
        """Everything that is wanted; what can't be done now does not keep the rest waiting. When to look again
        whatever happens."""
        channels = {self.place.channel, *channels_of(self.state)}
        self.setbacks.asked_for(self.lease.run_id, channels, self.known.asked_for_at)
        self._rows = {
            key: row
            for key, row in self.known.messages.items()
            if row.address is None or Address.is_one(row.address)
        }
        self._links = await links_to_cards(self.state, self._rows, self.addressees)
        self._words_at = await links_to_words(self.state, self._rows, self.addressees)
        first = self._desired(not_known_yet(self.state))
        self._ringing = {
            one for key, one in rung_for(self.state).items() if not is_said(key, self._rows)
        }
        waits: list[float] = []
        streaming = self._streaming
        waits += await streaming.pause() if streaming else []
        elsewhere, standing = await self._put_elsewhere(first[0], waits)
        attached = await self._attach(first[0], standing, waits)
        everything = await self._put_here(first, elsewhere, standing, attached, waits)
        waits += await elsewhere.tell() if elsewhere else []
        waits += await self._try_each(list(said_below(self.state, self._rows)))
        for _ in range(2):  # That the newest can't be edited either is known only then.
            anew = list(notes_anew(self.state, self._rows, self._links))
            waits += await self._try_each(anew)
        waits += await self._troubles.tell(self._refused, self._in_the_way)
        if streaming is not None and not self._is_given_up:
            waits += await streaming.go_on()
        if waits:
            raise Later(min(waits))
        await self._leave({one.key for one in everything})
        looks = [self._looks.next(), streaming.look_again if streaming else None]
        return min((one for one in looks if one is not None), default=None)

    async def _put_here(
        self,
        first: Sequence[Wanted],
        elsewhere: Elsewhere | None,
        standing: Mapping[ApprovalId, Standing],
        attached: Mapping[ApprovalId, FileStanding],
        waits: list[float],
    ) -> Sequence[Wanted]:
        """What stands in the thread; all that is wanted there, in the end."""
        everything = self._desired(standing, attached) if elsewhere or attached else first
        leaked = [one for one in everything if self._placing.has_leaked(one.key)]
        here = await self._try_each(leaked or everything)
        has_leaked = any(self._placing.has_leaked(one.key) for one in everything)
        if not here and not has_leaked:
            # What left out, when it was posted, whom others ring: they have, and it is made whole.
            here = await self._try_each(everything)
            # That a card stands in text alone is known only now.
            if more := await self._attach(first[0], standing, waits, but=attached):
                attached = {**attached, **more}
                everything = self._desired(standing, attached)
                here = await self._try_each(everything)
        if self._is_file_refused(everything) and not has_leaked:
            self._is_answer_split = True
            everything = self._desired(standing, attached)
            here = await self._try_each(everything)
        waits += here
        return everything

    def _desired(
        self,
        standing: Mapping[ApprovalId, Standing],
        files: Mapping[ApprovalId, FileStanding] | None = None,
    ) -> tuple[Wanted, ...]:
        # What was begun is gone on with, also by those who do not know why.
        is_split = self._is_answer_split or answer_key(self.state.reopened, 2) in self._rows
        return desired(
            self.state,
            self.blocked,
            standing,
            files,
            links=self._links,
            words_at=self._words_at,
            is_answer_split=is_split,
            names_agent=self.names_agent,
        )

    def _is_file_refused(self, everything: Sequence[Wanted]) -> bool:
        """Is it certain that Slack does not take the file with the answer?"""
        return any(one.file is not None and self._why_refused(one) for one in everything)

    async def _leave(self, wanted: Collection[str]) -> None:
        """What nobody here wants any more, such as a message of another build's, is not doubted for ever."""
        for key in self.known.messages.keys() - wanted:
            row = self._rows.get(key, self.known.messages[key])
            if not row.digest and not key.startswith(LIVE_KEY):
                await self._placing.leave(row)

    async def _try_each(self, everything: Sequence[Wanted]) -> list[float]:
        """The seconds after which those that could not be put in place are tried again."""
        waits: list[float] = []
        for wanted in everything:
            if self._looks.is_before_its_card(wanted) or (later := await self._put(wanted)) is None:
                continue
            waits.append(later.seconds)
            has_leaked = self._placing.has_leaked(wanted.key)
            if later.stops or has_leaked or self._is_awaited(wanted):
                self._in_the_way = self._refused.get(wanted.key)
                break
        return waits

    async def _attach(
        self,
        status: Wanted,
        standing: Mapping[ApprovalId, Standing],
        waits: list[float],
        *,
        but: Collection[ApprovalId] = (),
    ) -> Mapping[ApprovalId, FileStanding]:
        """The files of what is asked in the thread, and what is known of them; before the cards, which can be
        approved only with them. ``but``: of these that is done."""
        asked = [
            one
            for one in self.state.open_approvals
            if one.id not in but
            and not _stands(standing.get(one.id))
            and self._files.is_needed(one)
        ]
        if asked and await self._opened(status):
            for one in asked:
                files = self._files
                waits += await files.attach(one, is_due=files.is_due(one))
        return {one.id: self._files.standing(one) for one in asked}

    async def _opened(self, status: Wanted) -> Address | None:
        """The message that opened the thread, if anything can."""
        if self._whereabouts.root is None:
            await self._put(status)
        return self._whereabouts.root

    async def _put_elsewhere(
        self, status: Wanted, waits: list[float]
    ) -> tuple[Elsewhere | None, Mapping[ApprovalId, Standing]]:
        """What does not stand in the thread, once that is open: it leads back to it."""
        if not are_any(self.state):
            return None, {}
        root = await self._opened(status)
        elsewhere = Elsewhere(
            state=self.state,
            rows=self._rows,
            addressees=self.addressees,
            put=self._put,
            why_refused=self._why_refused,
            files=self._files,
            link=await self.addressees.link(root) if root else None,
            shown=self._shown_before(),
            words_at=self._words_at,
            is_blocked=self.blocked is not None,
        )
        standing, later = await elsewhere.show()
        waits += later
        return elsewhere, standing

    async def _put(self, wanted: Wanted) -> Later | None:
        """When it is tried again; None: it is done with, or nothing was to do."""
        urgent = self._as_urgent(wanted)
        if self._placing.is_in_place(urgent) or self._was_given_up(urgent):
            return None
        return await self._try(urgent)

    def _why_refused(self, wanted: Wanted) -> str | None:
        refusal = self.setbacks.refusals.of(self._whereabouts.target(wanted))
        return refusal.error.code if refusal is not None and refusal.is_certain else None

    async def _try(self, wanted: Wanted) -> Later | None:
        """When it is tried again; None: it is done with."""
        target = self._whereabouts.target(wanted)
        if (refusal := self.setbacks.refusals.of(target)) is None:
            try:
                await self._show(wanted)
            except (SlackRefused, AnswerLost) as met:
                later = self._come_back(target, met)
                refusal = self.setbacks.refusals.of(target) if is_lasting(met) else None
                if refusal is None:
                    return later
            except Later as limit:
                # Slack may take a file again and again, and never show it.
                return None if wanted.file is not None and self._is_given_up else limit
            else:
                self.setbacks.refusals.taken(target)
                return None
        if refusal.is_trouble:
            self._refused[wanted.key] = refusal.error.code
        if self._is_given_up:
            log.info("%s of %s stays untold: %s", wanted.key, self.state.run_id, refusal.error)
            await self._placing.give_up(wanted)
            return None
        return Later(self.setbacks.refusals.left(refusal))

    def _as_urgent(self, wanted: Wanted) -> Wanted:
        """What was refused when it was last tried takes nothing from what others need at once; nor does what people
        say of what waits, or a look at whether a card still stands, as which it is drawn again."""
        if is_look := self._looks.is_due(wanted):
            row = self._rows[wanted.key]
            self._rows[wanted.key] = replace(row, digest=unknown(row))
        if wanted.is_talked_of and wanted.key in self._rows:
            wanted = replace(wanted, priority=max(wanted.priority, Priority.WAITING))
        if not is_look and not self.setbacks.refusals.was_met(self._whereabouts.target(wanted)):
            return wanted
        return replace(wanted, priority=max(wanted.priority, Priority.ANSWER))

    @property
    def lease(self) -> Lease:
        return self.guard.lease

    @property
    def _placing(self) -> Placing:
        return Placing(self.store, self.slack, self.limiter, self.guard, self._rows, self.bookmarks)

    @property
    def _whereabouts(self) -> Whereabouts:
        return Whereabouts(self.lease.run_id, self.place, self._rows)

    @property
    def _looks(self) -> Looks:
        now, asked_for_at = self.store.clock.now(), self.known.asked_for_at
        return Looks(self.state, self._rows, now, self._ringing, asked_for_at)

    @property
    def _files(self) -> Files:
        is_card_due = self._looks.is_card_due
        return Files(self.state, self._rows, self._put, self._why_refused, is_card_due)

    @property
    def _streaming(self) -> Streaming | None:
        """Where it is streamed at all."""
        is_blocked, come_back = self.blocked is not None, self._come_back_to
        return Streaming.of(
            self._placing, self.refused, self.state, self.place, is_blocked, come_back
        )

    def _come_back_to(self, key: str, error: SlackRefused | AnswerLost) -> Later:
        target = Target(self.lease.run_id, key, self.place.channel, is_posted=True, below=None)
        return self._come_back(target, error)

    @property
    def _troubles(self) -> Troubles:
        return Troubles(
            self.store, self._placing, self.setbacks, self.state, self.known, self._is_given_up
        )

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
        """Nothing may be posted before it: it opens the thread, or the answer goes on after it. The status comes
        first, too, in a thread that somebody else opened, unless it is the status that Slack refuses."""
        is_status = wanted.key == STATUS_KEY and not self._whereabouts.target(wanted).is_posted
        is_first = is_status and wanted.key not in self._refused
        return self._whereabouts.root is None or is_first or wanted.leads

    async def _show(self, wanted: Wanted) -> None:
        at = await self._whereabouts.of(wanted, self._placing)
        if wanted.key not in self._rows and not wanted.is_past and self._is_lost(wanted.key):
            await self._placing.find_lost(wanted.key, at, since=self.state.started_at)
        if (streaming := self._streaming) is not None and streaming.takes(wanted):
            await streaming.lead(wanted)
        await self._placing.place(wanted, at)

    def _shown_before(self) -> Mapping[ApprovalId, int]:
        before = self._before()
        return {one.id: one.stage for one in before.approvals.values()} if before else {}

    def _before(self) -> RunState | None:
        """The run when the thread was last let go of; None: it never was."""
        shown = self.known.shown_seq
        return fold(self.events[:shown]) if shown else None

    def _is_lost(self, key: str) -> bool:
        """Had it been shown when the thread was last let go of?"""
        if self._lost is None:
            if (before := self._before()) is not None:
                keys = {one.key for one in desired(before) if not one.is_past}
                self._lost = (keys | keys_in_channels(before)) - self._rows.keys()
            else:
                self._lost = set()
            self._lost |= self.known.messages.keys() - self._rows.keys()
        return key in self._lost


def _stands(standing: Standing | None) -> bool:
    """Does it stand elsewhere, or may it yet?"""
    return standing is not None and (bool(standing.places) or standing.is_open)
