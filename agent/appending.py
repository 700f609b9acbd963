"""Appending to a run from outside: whatever else happens to it meanwhile, one thing wins."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from agent.errors import CorruptJournal, SeqConflict, Untimely
from agent.mending import mend, read_state
from agent.ports import Store
from agent.rules.control import StampedControl
from agent.rules.events import Event
from agent.rules.fold import fold
from agent.rules.ids import RunId
from agent.rules.recorded import Stamped
from agent.rules.state import RunState

#: What is not yet true by the store's clock is tried again after so many seconds.
AGAIN_AFTER = 0.05


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be recorded: of the run, and in the control journal with it."""

    events: Sequence[Event]
    control: Sequence[StampedControl] = ()


@dataclass(frozen=True, slots=True)
class Taken:
    """What was recorded: the state that it was made of, and the one after it."""

    before: RunState
    after: RunState


@dataclass(frozen=True, slots=True)
class Appending:
    """Appends to the runs of one store."""

    store: Store
    stamp: Callable[[Event], Stamped]

    async def take(
        self,
        run_id: RunId,
        wish: Callable[[RunState], Awaitable[Wanted]],
        *,
        seen: RunState | None = None,
        redraws: str | None = None,
    ) -> Taken:
        """Record what ``wish`` makes of the run as it is, and look again whenever somebody was faster at
        anything. What contradicts the journal beside it is mended first. ``seen`` is the run as somebody has just
        read it: it is read again only where it has moved since. ``redraws`` as for ``Journal.intend``.

        Raises what ``wish`` does, ``NotFound``, ``ApprovalExpired`` for a word that the store finds too late,
        ``CorruptJournal``, ``StoreUnavailable``."""
        conflicted_at = 0
        while True:
            state, seen = seen or await read_state(self.store, run_id), None
            wanted = await wish(state)
            if not wanted.events:
                return Taken(state, state)
            mended = await mend(self.store, state)
            if state.seq == conflicted_at and not mended:
                raise CorruptJournal(run_id, state.seq, "what is kept beside it contradicts it")
            stamped = [self.stamp(event) for event in wanted.events]
            try:
                recorded = await self.store.journal.intend(
                    run_id,
                    stamped,
                    expected_seq=state.seq,
                    control=wanted.control,
                    redraws=redraws,
                )
            except Untimely as untimely:
                if untimely.refusal is not None:
                    raise untimely.refusal from untimely
                wakeups = self.store.wakeups
                await wakeups.wait(wakeups.moves, AGAIN_AFTER)
                continue
            except SeqConflict:
                conflicted_at = state.seq
                continue
            return Taken(state, fold(recorded, state))
