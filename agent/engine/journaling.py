"""One run's journal in this engine's hands: what it says, and what is on its way into it.

Two things are put into a journal (see ``agent.ports.Journal``). What *has happened* (a model replied,
a call returned) is kept here as pending until the next commit takes it along, and is recorded whatever
others appended meanwhile. What is *intended* (a call starts, people are asked, the run ends) is
committed together with it, and only if the journal has not moved.

``state`` is what all of that amounts to, the pending included: so that one commit can hold a model's
reply, the verdicts on its calls and their starts.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence

from agent.engine.guard import LeaseGuard
from agent.errors import LimitReached, SeqConflict, StoreUnavailable
from agent.ports import Ids, Store
from agent.rules.events import CallLeftUnknown, CallReturned, Event
from agent.rules.fold import apply, fold
from agent.rules.ids import EventId
from agent.rules.interventions import ApprovalExpired
from agent.rules.recorded import Recorded, Stamped
from agent.rules.replacing import replace
from agent.rules.state import RunState

log = logging.getLogger(__name__)

#: How long to wait before an append is tried again that the store had no time for, in seconds.
AGAIN_AFTER = 0.5


class RunJournal:
    """Appends under ``guard``'s fence. Raises ``LeaseLost`` once somebody else has the run."""

    def __init__(self, store: Store, ids: Ids, guard: LeaseGuard, durable: RunState) -> None:
        self._store = store
        self._ids = ids
        self._guard = guard
        self._durable = durable
        self._pending: list[Stamped] = []
        self.state = durable

    @property
    def seen_seq(self) -> int:
        """The last event of the journal that ``state`` knows of."""
        return self._durable.seq

    @property
    def durable(self) -> RunState:
        """What the journal says, without what is pending."""
        return self._durable

    @property
    def has_pending(self) -> bool:
        return bool(self._pending)

    @property
    def can_wait(self) -> bool:
        """Is nothing pending but what could be had again for nothing, the results of reads?"""
        return all(
            isinstance(event := one.event, CallReturned)
            and self.state.call(event.call_id).effect == "read"
            for one in self._pending
        )

    def happened(self, event: Event) -> None:
        """This is a fact now; the next commit takes it along."""
        self._pending.append(self.stamp(event))
        self.state = foresee(self.state, self._pending[-1:])

    def stamp(self, event: Event) -> Stamped:
        return Stamped(EventId(self._ids.event()), self._store.clock.now(), event)

    async def commit(
        self,
        intents: Sequence[Stamped],
        foreseen: RunState | None = None,
        verdict_seq: int | None = None,
    ) -> None:
        """Put the pending facts and these intents into the journal, all or nothing. ``foreseen`` is
        what ``state`` will be then, where that is known already; ``verdict_seq`` as for ``Journal.intend``.

        Raises ``SeqConflict`` when it has moved, or what can change a verdict has, and ``LimitReached`` when others
        have used what a start reserves: then the facts are recorded, the intents are not, and ``state`` is up to
        date."""
        events = [*self._pending, *intents]
        journal, run_id = self._store.journal, self._durable.run_id
        try:
            recorded = await self._persist(
                lambda: journal.intend(
                    run_id,
                    events,
                    expected_seq=self.seen_seq,
                    fence=self._guard.lease.fence,
                    verdict_seq=verdict_seq,
                )
            )
        except (SeqConflict, LimitReached):
            await self.flush()
            await self.catch_up()
            raise
        foreseen = foreseen or foresee(self.state, intents)
        self._pending.clear()
        self._durable = self.state = replace(foreseen, head_hash=recorded[-1].hash)

    async def flush(self) -> None:
        """Record what has happened, behind whatever others appended."""
        if not self._pending:
            return
        facts, self._pending = self._pending, []
        try:
            recorded = await self.record(facts)
        except SeqConflict:
            # The run has ended meanwhile, and not every fact can follow that.
            recorded = await self._record_what_can_follow(facts)
        await self.absorb(recorded)

    async def flush_once(self) -> None:
        """The same, but without waiting for a store that is away. Raises ``StoreError``."""
        if self._pending:
            facts, self._pending = self._pending, []
            await self.record_once(facts)

    async def record(self, facts: Sequence[Stamped]) -> list[Recorded]:
        """Record these, without looking at the state; for a task beside the engine's loop."""
        journal, run_id = self._store.journal, self._durable.run_id
        return await self._persist(
            lambda: journal.record(run_id, facts, fence=self._guard.lease.fence), is_fact=True
        )

    async def record_once(self, facts: Sequence[Stamped]) -> None:
        """The same, but without waiting for a store that is away. Raises ``StoreError``."""
        fence = self._guard.lease.fence
        await self._store.journal.record(self._durable.run_id, facts, fence=fence)

    async def absorb(self, recorded: Sequence[Recorded]) -> None:
        """Take note of what has been recorded."""
        news = [one for one in recorded if one.seq > self.seen_seq]
        if [one.seq for one in news] == list(
            range(self.seen_seq + 1, self.seen_seq + 1 + len(news))
        ):
            self._fold(news)
        else:
            await self.catch_up()

    async def catch_up(self) -> None:
        """Read what others appended."""
        self._fold(await self._store.journal.read(self._durable.run_id, after=self.seen_seq))

    def _fold(self, recorded: Sequence[Recorded]) -> None:
        self._durable = fold(recorded, self._durable)
        self.state = foresee(self._durable, self._pending)

    async def _record_what_can_follow(self, facts: Sequence[Stamped]) -> list[Recorded]:
        recorded: list[Recorded] = []
        for fact in facts:
            try:
                recorded += await self.record([fact])
            except SeqConflict:
                log.info("%s came after the end of %s", fact.event.kind, self._durable.run_id)
        return recorded

    async def _persist(
        self, append: Callable[[], Awaitable[list[Recorded]]], *, is_fact: bool = False
    ) -> list[Recorded]:
        """Try again while the store is away: an event is appended once, however often it is tried. An
        intention only while the lease is ours; a fact until somebody has replaced us."""
        is_said = False
        while True:
            try:
                recorded = await append()
                _tell(recorded)
                return recorded
            except StoreUnavailable:
                if self._guard.is_over and not is_fact:
                    raise
                level = logging.DEBUG if is_said else logging.WARNING
                log.log(level, "%s can't be recorded yet; trying again", self._durable.run_id)
                is_said = True
                await asyncio.sleep(AGAIN_AFTER)


def _tell(recorded: Sequence[Recorded]) -> None:
    """The log hears of what somebody may have to look after; ids only."""
    for one in recorded:
        match one.event:
            case CallLeftUnknown(call_id=call_id):
                log.warning("%s: it is not known whether %s happened", one.run_id, call_id)
            case ApprovalExpired(approval_id=approval_id):
                log.info("%s: nobody decided %s in time", one.run_id, approval_id)
            case _:
                pass


def foresee(state: RunState, events: Sequence[Stamped]) -> RunState:
    """The state as it will be once these have been appended right behind it."""
    for one in events:
        seq = state.seq + 1
        state = apply(state, Recorded(state.run_id, seq, one.id, one.at, "", one.event))
    return state
