"""Having a run worked until it has ended or waits for people, by whoever can, or else here."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from datetime import timedelta

from agent.blocked import why_not_here
from agent.engine.advance import Engine
from agent.engine.helping import HelpingHand
from agent.engine.releasing import release
from agent.engine.taking_up import take_up, take_up_due
from agent.errors import Blocked, NotFound
from agent.mending import mend_all, read_state
from agent.rules.fold import apply
from agent.rules.ids import RunId
from agent.rules.recorded import Recorded
from agent.rules.shapes import step_from_outside
from agent.rules.state import RunState
from agent.rules.steps import Done, Suspend, next_step

TERM = timedelta(seconds=30)
DRAIN = timedelta(seconds=60)
#: The slow look at whether somebody still works; news of the run comes at once.
LOOK_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Working:
    """Works runs of one engine's agents; ``term`` is that of the leases, ``drain`` the time that running
    calls get when it is cancelled."""

    engine: Engine
    term: timedelta = TERM
    drain: timedelta = DRAIN
    build: str = ""

    def hand(self) -> HelpingHand:
        """What works a run here while no live process can."""
        return HelpingHand(self.engine, term=self.term, drain=self.drain, build=self.build)

    async def to_pause(self, run_id: RunId) -> AsyncGenerator[tuple[Recorded, RunState]]:
        """All events of the run, each with the state after it, until it has ended or waits for people;
        it is worked here while nobody else does.

        Raises ``NotFound``, and ``Blocked`` when neither this process nor any live one can take it
        on."""
        store, hand = self.engine.store, self.hand()
        state: RunState | None = None
        try:
            while True:
                moves = store.wakeups.moves
                for recorded in await store.journal.read(run_id, state.seq if state else 0):
                    state = apply(state, recorded)
                    yield recorded, state
                if state is None:
                    raise NotFound("run", run_id)
                if self.is_at_pause(state):
                    return
                await hand.help(state)
                blocked = why_not_here(self.engine.agents, state)
                if blocked and await hand.is_alone(state):
                    raise Blocked(**blocked)
                await store.wakeups.wait(moves, LOOK_SECONDS)
        finally:
            await hand.close()

    async def settle(self, run_id: RunId) -> RunState:
        """The same, and the state in the end."""
        async with aclosing(self.to_pause(run_id)) as events:
            async for _, state in events:
                last = state
        return last

    async def resume(self, run_id: RunId, *, wait: bool) -> RunState | None:
        """Take up a run that nobody works, due or not, and work it here until it suspends or ends;
        with ``wait``, until it has ended or waits for people. None when nothing was to do: it has
        ended, waits for people or a time, or somebody alive works it.

        Raises ``NotFound``, and ``Blocked`` when this process can't take it on."""
        while True:
            state = await read_state(self.engine.store, run_id)
            step = next_step(state, self.engine.store.clock.now())
            if self.is_at_pause(state) or (isinstance(step, Suspend) and not wait):
                return None
            self._must_be_possible(state)
            if await self._take_up(run_id, state.seq):
                break
            row = await self.engine.store.lists.run(run_id)
            if row is None or row.holder is not None or row.head_seq == state.seq:
                return None
        if wait:
            return await self.settle(run_id)
        state = await read_state(self.engine.store, run_id)
        self._must_be_possible(state)
        return state

    async def recover(self, *, mends: bool = True) -> list[RunId]:
        """Take up every run that is due and that nobody alive has; what that was. What was lost of
        others beside their journals is mended first, unless the caller has."""
        if mends:
            await mend_all(self.engine.store)
        await release(self.engine.store, with_windows=True)
        return await take_up_due(self.engine, term=self.term, drain=self.drain, build=self.build)

    def is_at_pause(self, state: RunState) -> bool:
        """Has it ended, or does it wait for people alone, or until a switch or a window lets it go on?"""
        now = self.engine.store.clock.now()
        step = next_step(state, now)
        if isinstance(step, Suspend) and step.waiting_for in ("hold", "switch"):
            # What has begun goes on while it is held.
            return isinstance(step_from_outside(state, now), Suspend)
        return isinstance(step, Done) or (
            isinstance(step, Suspend) and step.waiting_for in ("approvals", "window")
        )

    async def _take_up(self, run_id: RunId, seen_seq: int) -> bool:
        times = {"term": self.term, "drain": self.drain}
        return await take_up(self.engine, run_id, seen_seq, build=self.build, **times)

    def _must_be_possible(self, state: RunState) -> None:
        if blocked := why_not_here(self.engine.agents, state):
            raise Blocked(**blocked)
