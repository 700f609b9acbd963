"""Following a run: its beats as they happen, until it ends or waits for a person."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import TypeVar

from agent.engine.agents import schemas_of
from agent.engine.waiting import watched
from agent.errors import Blocked, NotFound
from agent.rules.fold import apply
from agent.rules.ids import RunId
from agent.rules.recorded import Recorded
from agent.rules.shapes import status_of
from agent.rules.state import RunState
from agent.rules.veiling import known_in, veiled_event
from agent.runtime import Runtime
from bot.cli.beats import beat
from bot.cli.plain import one_line

#: The slow look; news of the run comes at once.
LOOK_SECONDS = 1.0

Say = Callable[[str], None]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Followed:
    """Where a run had come to, and why it can't go on if it can't."""

    state: RunState
    status: str
    blocked: dict[str, str] | None = None


async def follow_to_pause(runtime: Runtime, run_id: RunId, *, after: int, say: Say) -> Followed:
    """Until the run ends, waits for a person, or is blocked; it is worked here if nobody else does.

    Beats of events up to ``after`` are not said."""
    state: RunState | None = None
    try:
        async with aclosing(runtime.work_to_pause(run_id)) as events:
            async for recorded, state in events:
                if recorded.seq > after and (line := _beat(recorded, state, runtime)):
                    say(line)
    except Blocked as error:
        if state is None:
            raise
        return Followed(state, "blocked", why_of(error))
    assert state is not None, "a run has an event"
    return Followed(state, status_of(state, runtime.store.clock.now()))


async def follow_to_end(
    runtime: Runtime, run_id: RunId, *, say: Say, is_live: bool = True
) -> RunState:
    """All beats, and the new ones as they happen; only what is there unless ``is_live``. When nobody
    can take the run on, that is said once, and following goes on: it may be mended meanwhile."""
    store, state = runtime.store, None
    said: dict[str, str] | None = None
    while True:
        moves = store.wakeups.moves
        state = await _catch_up(runtime, run_id, state, 0, say)
        blocked = await runtime.blocked(state)
        if blocked and blocked != said:
            say(f"blocked: {one_line(blocked['message'])} {one_line(blocked['fix'])}")
        said = blocked
        if state.is_ended or not is_live:
            return state
        await store.wakeups.wait(moves, LOOK_SECONDS)


def why_of(error: Blocked) -> dict[str, str]:
    """As a run's shape has it."""
    return {"code": error.code, "message": str(error), "fix": error.fix}


async def follow_while(
    runtime: Runtime, run_id: RunId, work: Awaitable[T], *, after: int, say: Say
) -> T:
    """What ``work`` gives, or raises; the run's beats behind ``after`` while it lasts."""
    store, state = runtime.store, None
    working = asyncio.ensure_future(work)
    try:
        while not working.done():
            moves = store.wakeups.moves
            state = await _catch_up(runtime, run_id, state, after, say)
            async with watched(store.wakeups.wait(moves, LOOK_SECONDS)) as waits:
                await asyncio.wait([working, *waits], return_when=asyncio.FIRST_COMPLETED)
        await _catch_up(runtime, run_id, state, after, say)
        return await working
    finally:
        working.cancel()
        await asyncio.gather(working, return_exceptions=True)


def _beat(recorded: Recorded, state: RunState, runtime: Runtime) -> str | None:
    """Without the secrets that are among its calls' arguments."""
    if beat(recorded, state) is None:
        return None
    event = veiled_event(recorded.event, state, known_in(state, schemas_of(runtime.agents)))
    return beat(replace(recorded, event=event), state)


async def _catch_up(
    runtime: Runtime, run_id: RunId, state: RunState | None, after: int, say: Say
) -> RunState:
    """The state with everything that the journal holds by now."""
    while recorded := await runtime.store.journal.read(run_id, state.seq if state else 0):
        for one in recorded:
            state = apply(state, one)
            if one.seq > after and (line := _beat(one, state, runtime)):
                say(line)
    if state is None:
        raise NotFound("run", run_id)
    return state
