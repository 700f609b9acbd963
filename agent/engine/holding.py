"""The loop that runs and threads share: claim what is due, hold its lease while it is worked, let go.

What is done with a lease is handed in. So is what a fault of it means: everything that comes out of the
work, but the loss of the lease, is the worker's to put off.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta

from agent.engine.guard import LeaseGuard
from agent.engine.waiting import watched
from agent.errors import LeaseLost, StoreError, StoreUnavailable
from agent.ports import Lease, Leases, Wakeups
from agent.rules.ids import RunId
from agent.troubles import Trouble

log = logging.getLogger(__name__)

#: Nothing need tell the loop that a time has come: it looks this often, in seconds.
POLL = 0.5
#: After a renewal that failed, the next one, in seconds.
RENEW_AGAIN = 0.5

Work = Callable[[LeaseGuard, asyncio.Event], Awaitable[None]]


class LeaseLoop:
    """Holds up to ``concurrency`` leases for ``holder``, each worked by a task of its own.

    ``work(guard, stopping)`` suspends or defers the lease itself. ``may_claim`` can say "not now".
    """

    def __init__(
        self,
        leases: Leases,
        wakeups: Wakeups,
        work: Work,
        *,
        holder: str,
        term: timedelta,
        concurrency: int,
        agents: Collection[str] | None = None,
        may_claim: Callable[[], bool] = lambda: True,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._leases = leases
        self._wakeups = wakeups
        self._work = work
        self._holder = holder
        self._term = term
        self._concurrency = concurrency
        self._agents = agents
        self._may_claim = may_claim
        self._monotonic = monotonic
        self._stopping = asyncio.Event()
        self._guards: dict[RunId, LeaseGuard] = {}
        self._all: set[asyncio.Task[None]] = set()
        #: Has a claim failed? Where its answer was lost, we hold what we know nothing of.
        self._is_in_doubt = False
        #: Something has been let go since it was last looked for work.
        self._freed = asyncio.Event()
        self._claiming = Trouble(log, "nothing can be claimed now: %s")
        self._renewing = Trouble(log, "the leases can't be renewed now: %s")
        #: Has it asked the store for work at least once, with success?
        self.has_claimed = False

    async def run(self) -> None:
        """Until ``stop``. Only a fault of its own ends it otherwise."""
        async with self._working():
            while not self._stopping.is_set():
                moves = self._wakeups.moves
                self._freed.clear()
                try:
                    await self._claim()
                except StoreError as error:
                    self._claiming.met(error)
                else:
                    self._claiming.end()
                waits = (self._wakeups.wait(moves, POLL), self._freed.wait(), self._stopping.wait())
                async with watched(*waits) as tasks:
                    await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)

    async def take_up(self, run_id: RunId, seen_seq: int) -> bool:
        """Instead of ``run``: work this one now, due or not, until it is let go. False while somebody
        has it, or if it has moved on from ``seen_seq``."""
        asked_at = self._monotonic()
        lease = await self._leases.claim_one(run_id, self._holder, self._term, seen_seq=seen_seq)
        if lease is None:
            return False
        async with self._working():
            self._begin(lease, asked_at)
        return True

    async def take_up_due(self) -> list[RunId]:
        """Instead of ``run``: work what is due by now, until all of it is let go; what that was."""
        taken: dict[RunId, None] = {}
        away: StoreError | None = None
        async with self._working():
            while not self._stopping.is_set():
                free = self._concurrency - len(self._all)
                if free <= 0:
                    await asyncio.wait(set(self._all), return_when=asyncio.FIRST_COMPLETED)
                    continue
                try:
                    claimed = await self._claim()
                except StoreError as error:
                    # What was taken up is worked to its end all the same.
                    away = error
                    break
                taken |= dict.fromkeys(lease.run_id for lease in claimed)
                if len(claimed) < free:
                    break
        if away is not None:
            raise away
        return list(taken)

    async def stop(self, drain: timedelta = timedelta()) -> None:
        """Claim nothing more; what is being worked has up to ``drain`` to end, then it is cut off."""
        self._stopping.set()
        try:
            async with asyncio.timeout(drain.total_seconds()):
                await self._until_idle()
        except TimeoutError:
            log.warning("%d leases were cut off; others go on with them", len(self._all))
            self._cut_off()

    @asynccontextmanager
    async def _working(self) -> AsyncIterator[None]:
        """Leases are renewed within, and behind it for as long as anything is still being worked."""
        renewing = asyncio.create_task(self._keep_renewing(), name="renew leases")
        try:
            yield
            await self._until_idle()
        finally:
            renewing.cancel()
            self._cut_off()
            await asyncio.gather(renewing, *self._all, return_exceptions=True)

    def _cut_off(self) -> None:
        for task in self._all:
            task.cancel()

    async def _until_idle(self) -> None:
        while self._all:
            await asyncio.wait(set(self._all))

    async def _claim(self) -> list[Lease]:
        free = self._concurrency - len(self._all)
        if free <= 0 or not self._may_claim():
            return []
        if self._is_in_doubt:
            await self._leases.give_back(self._holder, but_not=self._guards.keys())
            self._is_in_doubt = False
        asked_at = self._monotonic()
        # What we still work is ours to renew, also when its lease has run out: claimed anew, it would
        # be taken from ourselves, with whatever is under way.
        try:
            leases = await self._leases.claim(
                self._holder, self._term, free, self._agents, but_not=self._guards.keys()
            )
            self.has_claimed = True
            known = await self._as_known(leases, asked_at)
        except StoreUnavailable:
            self._is_in_doubt = True
            raise
        for lease, since in known:
            self._begin(lease, since)
        return leases

    async def _as_known(
        self, leases: Sequence[Lease], asked_at: float
    ) -> Sequence[tuple[Lease, float]]:
        """Each with when its term began, for all we know. Where the answer to a claim came so late that little
        of that is left (a machine was stopped meanwhile), the store is asked whether they are still ours:
        else we would believe them over, and nobody would work them until they are."""
        if self._monotonic() - asked_at < self._term.total_seconds() / 3 or not leases:
            return [(lease, asked_at) for lease in leases]
        again_at = self._monotonic()
        renewal = await self._leases.renew(self._holder, leases, self._term)
        busy = [lease for lease in leases if lease.run_id in renewal.busy]
        return [
            *((lease, again_at) for lease in renewal.extended),
            *((lease, asked_at) for lease in busy),
        ]

    def _begin(self, lease: Lease, asked_at: float) -> None:
        guard = LeaseGuard(lease, self._term, asked_at, monotonic=self._monotonic)
        self._guards[lease.run_id] = guard
        task = asyncio.create_task(self._hold(guard), name=f"lease {lease.run_id}")
        self._all.add(task)

        def ended(task: asyncio.Task[None]) -> None:
            self._all.discard(task)
            del self._guards[lease.run_id]
            self._freed.set()

        task.add_done_callback(ended)

    async def _hold(self, guard: LeaseGuard) -> None:
        try:
            await self._work(guard, self._stopping)
        except LeaseLost:
            log.info("%s is worked elsewhere", guard.lease.run_id)

    async def _keep_renewing(self) -> None:
        third = self._term.total_seconds() / 3
        pause = third
        while True:
            await asyncio.sleep(pause)
            try:
                is_done = await self._renew()
            except StoreError as error:
                self._renewing.met(error)
                is_done = False
            else:
                self._renewing.end()
            # What is left of the term may be little.
            pause = third if is_done else min(third, RENEW_AGAIN)

    async def _renew(self) -> bool:
        """One statement for all; what is missing from the answer is lost. False if it is to be done again
        soon."""
        guards = dict(self._guards)
        if not guards:
            return True
        asked_at = self._monotonic()
        leases = [guard.lease for guard in guards.values()]
        renewal = await self._leases.renew(self._holder, leases, self._term)
        by_run = {lease.run_id: lease for lease in renewal.extended}
        for run_id, guard in guards.items():
            renewed = by_run.get(run_id)
            if renewed is not None and renewed.fence == guard.lease.fence:
                guard.renew(renewed, asked_at)
            elif run_id not in renewal.busy:
                guard.lose()
        return not renewal.busy
