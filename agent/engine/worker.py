"""The worker: has each run that is due advanced, and puts off what can't go on here."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from datetime import timedelta

from agent.engine.advance import Engine
from agent.engine.guard import LeaseGuard
from agent.engine.holding import LeaseLoop
from agent.engine.letting_go import let_go
from agent.engine.releasing import keep_releasing
from agent.errors import (
    Blocked,
    CorruptJournal,
    LeaseLost,
    SeqConflict,
    StoreUnavailable,
    UnknownEvent,
)
from agent.rules.ids import RunId

log = logging.getLogger(__name__)

#: When a run that can't go on here is looked at again.
BLOCKED_FOR = timedelta(seconds=30)
#: The same, after a trouble that passes: the store was away for a moment.
TROUBLED_FOR = timedelta(seconds=2)


class Worker:
    """Works runs until it is stopped. ``process_id`` is the holder of its leases."""

    def __init__(
        self,
        engine: Engine,
        *,
        process_id: str,
        concurrency: int,
        term: timedelta,
        may_claim: Callable[[], bool] = lambda: True,
    ) -> None:
        """``may_claim`` can say "not now"."""
        self._engine = engine
        self._releasing = keep_releasing(engine.store)
        self._loop = LeaseLoop(
            engine.store.run_leases,
            engine.store.wakeups,
            self._work,
            holder=process_id,
            term=term,
            concurrency=concurrency,
            agents=engine.agents.keys(),
            may_claim=may_claim,
        )

    @property
    def has_claimed(self) -> bool:
        """Has it asked the store for work at least once, with success?"""
        return self._loop.has_claimed

    @property
    def is_releasing(self) -> bool:
        """Does nothing keep runs from going on once their switch is off, but that the store is away?"""
        return not self._releasing.is_failing

    async def run(self) -> None:
        """Until ``stop``. Only a fault of its own ends it otherwise."""
        releasing = asyncio.create_task(self._releasing.go_on(), name="release runs")
        try:
            await self._loop.run()
        finally:
            releasing.cancel()
            await asyncio.gather(releasing, return_exceptions=True)

    async def take_up(self, run_id: RunId, seen_seq: int) -> bool:
        """Instead of ``run``: work this run now, due or not, until it suspends or ends. False while
        somebody has it, or if it has moved on from ``seen_seq``."""
        return await self._loop.take_up(run_id, seen_seq)

    async def take_up_due(self) -> list[RunId]:
        """Instead of ``run``: work what is due by now, each until it suspends or ends; what that was."""
        return await self._loop.take_up_due()

    async def stop(self, drain: timedelta = timedelta()) -> None:
        """Claim nothing more; give calls in flight up to ``drain`` to end, then cut them off."""
        await self._loop.stop(drain)

    async def _work(self, guard: LeaseGuard, stopping: asyncio.Event) -> None:
        run_id = guard.lease.run_id
        try:
            await self._engine.advance(guard, stopping)
        except LeaseLost:
            raise
        except (Blocked, CorruptJournal, UnknownEvent) as error:
            log.warning("%s is blocked: %s", run_id, error)
            await self._put_off(guard, stopping)
        except (StoreUnavailable, SeqConflict) as error:
            log.warning("%s goes on soon: %s", run_id, error)
            await self._put_off(guard, stopping, TROUBLED_FOR)
        except Exception as error:
            log.exception("a fault of ours in %s; it is tried again later", run_id)
            await self._put_off(guard, stopping, fault=error)

    async def _put_off(
        self,
        guard: LeaseGuard,
        stopping: asyncio.Event,
        time: timedelta = BLOCKED_FOR,
        *,
        fault: Exception | None = None,
    ) -> None:
        """Come back to it later; to a run that fails each time, no more."""
        store = self._engine.store

        async def defer() -> None:
            is_given_up = fault is not None and await self._engine.give_up(guard, fault)
            until = store.clock.now() + (timedelta() if is_given_up else time)
            await store.run_leases.defer(guard.lease, until=until, is_fault=fault is not None)

        await let_go(guard, stopping, defer)
