"""The drawer: claims threads that are behind their runs, and has Slack show what is so.

The same loop as the worker's: claim, fold, decide (pure), act, let go only if nothing moved.
"""

from __future__ import annotations

import asyncio
import logging
import time
import traceback
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Final

from agent.engine.guard import LeaseGuard
from agent.engine.holding import LeaseLoop
from agent.engine.letting_go import let_go
from agent.errors import LeaseLost, PilothouseError
from agent.ports import KnownThread, Store
from agent.rules.fold import fold
from agent.rules.recorded import Recorded
from agent.rules.state import RunState
from agent.rules.veiling import Schemas, known_in, veiled
from bot.slack.ids import Place
from bot.slack.limiter import Limiter
from bot.slack.people import People
from bot.slack.thread.addressees import Addressees
from bot.slack.thread.as_drawn import WhyBlocked, should_move
from bot.slack.thread.edge import SlackThreads
from bot.slack.thread.native import Refused
from bot.slack.thread.readback import Bookmarks
from bot.slack.thread.setbacks import Later, Setbacks
from bot.slack.thread.showing import Showing

log = logging.getLogger(__name__)

#: After so long it is looked again whether somebody takes on a run that has something to do.
LOOK_AGAIN: Final = timedelta(seconds=15)
#: Threads at a time.
CONCURRENCY: Final = 8


class ThreadDrawer:
    """Draws threads until it is stopped. ``process_id`` is the holder of its leases.

    ``people`` finds out to whom questions may be put directly; ``why_blocked`` says why nobody takes a run
    on; ``names_agents``: there are several, and threads say whose run they show; ``may_claim`` can
    say "not now"; ``schemas`` are those of the tools here, which say what is secret. ``slack``'s
    client must have no retry handlers.
    """

    def __init__(
        self,
        store: Store,
        slack: SlackThreads,
        *,
        people: People,
        why_blocked: WhyBlocked,
        process_id: str,
        term: timedelta,
        names_agents: bool = False,
        may_claim: Callable[[], bool] = lambda: True,
        schemas: Schemas | None = None,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store = store
        self._schemas = schemas or {}
        self._slack = slack
        self._why_blocked = why_blocked
        self._names_agents = names_agents
        self._addressees = Addressees(people)
        self._limiter = Limiter(store.allowances, monotonic)
        self._setbacks = Setbacks(self._limiter)
        self._bookmarks = Bookmarks()
        self._refused = Refused(monotonic)
        self._loop = LeaseLoop(
            store.thread_leases,
            store.wakeups,
            self._work,
            holder=process_id,
            term=term,
            concurrency=CONCURRENCY,
            may_claim=lambda: not self._limiter.held and may_claim(),
            monotonic=monotonic,
        )

    async def run(self) -> None:
        """Until ``stop``. Only a fault of its own ends it otherwise."""
        await self._loop.run()

    async def stop(self, drain: timedelta = timedelta(seconds=5)) -> None:
        """Claim nothing more; what is being drawn has up to ``drain`` to be finished."""
        await self._loop.stop(drain)

    async def _work(self, guard: LeaseGuard, stopping: asyncio.Event) -> None:
        """Until Slack shows what is so."""
        run_id, seen = guard.lease.run_id, None
        try:
            while True:
                known, events = await self._store.threads.with_journal(run_id)
                state = fold(events)
                is_first, seen, until = seen is None, state.seq, None
                if (place := Place.of(state.place)) is not None:
                    if is_first:
                        self._setbacks.taken_up(run_id, seen)
                    until = await self._show(guard, state, place, known, events)
                if await self._store.thread_leases.suspend(guard.lease, seen_seq=seen, until=until):
                    self._setbacks.clear(run_id)
                    return
        except LeaseLost:
            raise
        except Later as later:
            await self._put_off(guard, stopping, later.seconds, seen)
        except PilothouseError as error:
            await self._put_off(guard, stopping, self._setbacks.again(run_id, str(error)), seen)
        except Exception as error:
            # Where it happened, but not the error's words: they may quote what somebody wrote.
            where = "".join(traceback.format_tb(error.__traceback__))
            log.error(
                "a fault of ours in the thread of %s, which is tried again later: %s\n%s",
                *(run_id, type(error).__name__, where),
            )
            await self._put_off(
                guard, stopping, self._setbacks.again(run_id, "a fault of ours"), seen
            )

    async def _show(
        self,
        guard: LeaseGuard,
        state: RunState,
        place: Place,
        known: KnownThread,
        events: Sequence[Recorded],
    ) -> datetime | None:
        """When to look again, also whether somebody takes the run on: nothing tells of that."""
        now = self._store.clock.now()
        moves = should_move(state, now)
        showing = Showing(
            store=self._store,
            slack=self._slack,
            limiter=self._limiter,
            setbacks=self._setbacks,
            guard=guard,
            state=veiled(state, known_in(state, self._schemas)),
            place=place,
            known=known,
            events=events,
            addressees=self._addressees,
            refused=self._refused,
            blocked=await self._why_blocked(state) if moves else None,
            names_agent=self._names_agents,
            bookmarks=self._bookmarks,
        )
        looks = [await showing.show(), now + LOOK_AGAIN if moves else None]
        return min((one for one in looks if one is not None), default=None)

    async def _put_off(
        self, guard: LeaseGuard, stopping: asyncio.Event, seconds: float, seen: int | None
    ) -> None:
        """Come back then; at once for what the run did meanwhile: it may be more urgent."""
        self._setbacks.put_off(guard.lease.run_id, seen)

        async def defer() -> None:
            until = self._store.clock.now() + timedelta(seconds=seconds)
            await self._store.thread_leases.defer(guard.lease, until=until, seen_seq=seen)

        await let_go(guard, stopping, defer)
