"""Following a run: its beats as they happen, until it ends or waits for a person."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from agent.engine.helping import HelpingHand
from agent.errors import NotFound
from agent.ports import Store
from agent.rules.fold import apply
from agent.rules.ids import RunId
from agent.rules.shapes import status_of
from agent.rules.state import RunState
from agent.rules.steps import Suspend, next_step
from agent.runtime import Runtime
from bot.cli.beats import beat

#: The slow look at whether somebody still works; news of the run comes at once.
LOOK_SECONDS = 1.0

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Followed:
    """Where a run had come to, and why it can't go on if it can't."""

    state: RunState
    status: str
    blocked: dict[str, str] | None = None


async def follow_to_pause(
    runtime: Runtime, run_id: RunId, *, after: int, hand: HelpingHand, say: Say
) -> Followed:
    """Until the run ends, waits for a person, or is blocked; somebody or ``hand`` works it.

    Beats of events up to ``after`` are not said."""
    store, state = runtime.store, None
    while True:
        moves = store.wakeups.moves
        state = await _catch_up(store, run_id, state, after, say)
        if state.is_ended or _waits_for_people(state, store):
            return Followed(state, status_of(state, store.clock.now()))
        await hand.help(state.agent)
        # Somebody else may have what this process lacks.
        blocked = runtime.blocked(state)
        if blocked and await hand.is_alone(state.agent):
            return Followed(state, "blocked", blocked)
        await store.wakeups.wait(moves, LOOK_SECONDS)


async def follow_to_end(
    runtime: Runtime, run_id: RunId, *, say: Say, is_live: bool = True
) -> RunState:
    """All beats, and the new ones as they happen; only what is there unless ``is_live``."""
    store, state = runtime.store, None
    while True:
        moves = store.wakeups.moves
        state = await _catch_up(store, run_id, state, 0, say)
        if state.is_ended or not is_live:
            return state
        await store.wakeups.wait(moves, LOOK_SECONDS)


async def _catch_up(
    store: Store, run_id: RunId, state: RunState | None, after: int, say: Say
) -> RunState:
    """The state with everything that the journal holds by now."""
    while recorded := await store.journal.read(run_id, state.seq if state else 0):
        for one in recorded:
            state = apply(state, one)
            if one.seq > after and (line := beat(one, state)):
                say(line)
    if state is None:
        raise NotFound("run", run_id)
    return state


def _waits_for_people(state: RunState, store: Store) -> bool:
    step = next_step(state, store.clock.now())
    return isinstance(step, Suspend) and step.waiting_for == "approvals"
