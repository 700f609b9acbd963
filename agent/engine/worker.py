"""The worker: has each run that is due advanced, and puts off what can't go on here."""

from __future__ import annotations

import asyncio
import logging
from datetime import timedelta

from agent.engine.advance import Engine
from agent.engine.guard import LeaseGuard
from agent.engine.holding import LeaseLoop
from agent.errors import (
    Blocked,
    CorruptJournal,
    LeaseLost,
    PilothouseError,
    StoreError,
    UnknownEvent,
)

log = logging.getLogger(__name__)

#: When a run that can't go on here is looked at again.
BLOCKED_FOR = timedelta(seconds=30)
#: The same, after a trouble that passes: the store was away for a moment.
TROUBLED_FOR = timedelta(seconds=2)


class Worker:
    """Works runs until it is stopped. ``process_id`` is the holder of its leases."""

    def __init__(
        self, engine: Engine, *, process_id: str, concurrency: int, term: timedelta
    ) -> None:
        self._engine = engine
        self._loop = LeaseLoop(
            engine.store.run_leases,
            engine.store.wakeups,
            self._work,
            holder=process_id,
            term=term,
            concurrency=concurrency,
            agents=engine.agents.keys(),
        )

    @property
    def has_claimed(self) -> bool:
        """Has it asked the store for work at least once, with success?"""
        return self._loop.has_claimed

    async def run(self) -> None:
        """Until ``stop``. Only a fault of its own ends it otherwise."""
        await self._loop.run()

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
            await self._put_off(guard)
        except PilothouseError as error:
            log.warning("%s goes on soon: %s", run_id, error)
            await self._put_off(guard, TROUBLED_FOR)
        except Exception:
            log.exception("a fault of ours in %s; it is tried again later", run_id)
            await self._put_off(guard)

    async def _put_off(self, guard: LeaseGuard, time: timedelta = BLOCKED_FOR) -> None:
        try:
            until = self._engine.store.clock.now() + time
            await self._engine.store.run_leases.defer(guard.lease, until=until)
        except StoreError as error:
            log.warning("%s falls due when its lease ends: %s", guard.lease.run_id, error)
