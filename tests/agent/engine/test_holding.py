"""The loop that holds leases: renewed while the work lasts, lost when it is taken, heard out."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, cast

import pytest

from agent import tool
from agent.engine import holding
from agent.engine.guard import LeaseGuard
from agent.engine.holding import LeaseLoop, Work
from agent.errors import Blocked, CommitInDoubt, StoreUnavailable, UnknownEvent
from agent.ports import Lease, Leases, Renewal
from agent.rules.ids import RunId
from tests.agent.engine.bench import TERM, Bench, bench, calls, says, until

SHORT = timedelta(seconds=0.3)


def loop_of(b: Bench, work: Work, concurrency: int = 1) -> LeaseLoop:
    return LeaseLoop(
        b.store.run_leases,
        b.store.wakeups,
        work,
        holder="p",
        term=SHORT,
        concurrency=concurrency,
    )


async def test_a_lease_is_renewed_while_its_work_lasts_and_lost_when_it_is_taken(
    tmp_path: Path,
) -> None:
    held: asyncio.Queue[LeaseGuard] = asyncio.Queue()

    async def work(guard: LeaseGuard, stopping: asyncio.Event) -> None:
        await held.put(guard)
        await guard.lost.wait()

    async with bench(tmp_path, [], [says("ok")]) as b, asyncio.timeout(20):
        run_id = await b.start()
        loop = loop_of(b, work)
        running = asyncio.create_task(loop.run())
        guard = await held.get()
        await guard.renewed()
        assert not guard.lost.is_set()
        b.clock.advance(timedelta(seconds=1))
        (taken,) = await b.store.run_leases.claim("other", TERM, 1)
        await guard.lost.wait()
        await loop.stop(timedelta(seconds=10))
        await running
        row = await b.store.lists.run(run_id)
        assert row is not None
        assert (row.holder, taken.fence) == ("other", guard.lease.fence + 1)


async def test_what_is_in_flight_is_heard_before_the_run_is_handed_on(tmp_path: Path) -> None:
    began, release = asyncio.Event(), asyncio.Event()

    @tool(approval=False)
    async def slow() -> str:
        """Take long."""
        began.set()
        await release.wait()
        return "ended"

    async with bench(tmp_path, [slow], [calls(("slow", "{}")), says("done")]) as b:
        run_id = await b.start()
        (lease,) = await b.store.run_leases.claim("p", TERM, 1)
        stopping = asyncio.Event()
        working = asyncio.create_task(b.engine.advance(LeaseGuard(lease, TERM), stopping))
        await began.wait()
        stopping.set()
        # Something moves, and the engine looks up: it must not let go.
        moves = b.store.wakeups.moves
        await b.start("another")
        await b.store.wakeups.wait(moves, 5)
        await asyncio.wait([working], timeout=0.3)
        assert not working.done()
        release.set()
        await working
        state = await b.runtime.state(run_id)
        assert [call.status for call in state.calls.values()] == ["ended"]
        assert not state.is_ended


async def test_no_more_than_so_many_at_a_time(tmp_path: Path) -> None:
    at_work: list[LeaseGuard] = []
    release = asyncio.Event()

    async def work(guard: LeaseGuard, stopping: asyncio.Event) -> None:
        at_work.append(guard)
        await release.wait()
        await b.store.run_leases.suspend(guard.lease, seen_seq=1, until=None)

    async with bench(tmp_path, [], [says("ok")]) as b, asyncio.timeout(20):
        for _ in range(5):
            await b.start()
        loop = loop_of(b, work, concurrency=2)
        running = asyncio.create_task(loop.run())
        while len(at_work) < 2:
            await b.store.wakeups.wait(b.store.wakeups.moves, 0.1)
        assert len(await b.store.run_leases.claim("other", TERM, 10)) == 3
        release.set()
        await loop.stop(timedelta(seconds=10))
        await running
        assert len(at_work) == 2


async def test_a_claim_whose_answer_came_late_is_asked_about_before_it_is_worked(
    tmp_path: Path,
) -> None:
    held: asyncio.Queue[LeaseGuard] = asyncio.Queue()

    async def work(guard: LeaseGuard, stopping: asyncio.Event) -> None:
        await held.put(guard)

    async with bench(tmp_path, [], [says("ok")]) as b, asyncio.timeout(20):
        first, second = await b.start(), await b.start()
        loop = LeaseLoop(
            cast(Leases, Late(b, taken=first)),
            b.store.wakeups,
            work,
            holder="p",
            term=TERM,
            concurrency=2,
            monotonic=lambda: b.clock.now().timestamp(),
        )
        await loop.take_up_due()
        guard = held.get_nowait()
        assert (guard.lease.run_id, guard.may_start, held.empty()) == (second, True, True)


class Late:
    """Leases of a process that is stopped between its claim and the answer; one is taken meanwhile."""

    def __init__(self, b: Bench, taken: RunId) -> None:
        self._bench = b
        self._taken = taken

    async def claim(self, *args: Any, **named: Any) -> list[Lease]:
        leases = self._bench.store.run_leases
        claimed = await leases.claim(*args, **named)
        if claimed:
            self._bench.clock.advance(TERM)
            assert await leases.claim_one(self._taken, "other", TERM, seen_seq=1)
        return claimed

    def __getattr__(self, name: str) -> Any:
        return getattr(self._bench.store.run_leases, name)


@dataclass
class Away:
    """Leases that can't be had at first."""

    inner: Leases
    fails_at: tuple[int, ...] = (1, 2)
    tries: int = 0

    async def claim(
        self,
        holder: str,
        term: timedelta,
        limit: int,
        agents: Collection[str] | None = None,
        *,
        but_not: Collection[RunId] = (),
    ) -> list[Lease]:
        self.tries += 1
        if self.tries in self.fails_at:
            raise StoreUnavailable("locked")
        return await self.inner.claim(holder, term, limit, agents, but_not=but_not)

    async def give_back(self, holder: str, *, but_not: Collection[RunId]) -> None:
        await self.inner.give_back(holder, but_not=but_not)

    async def renew(self, holder: str, leases: Collection[Lease], term: timedelta) -> Renewal:
        return await self.inner.renew(holder, leases, term)

    async def suspend(self, lease: Lease, *, seen_seq: int, until: datetime | None) -> bool:
        return await self.inner.suspend(lease, seen_seq=seen_seq, until=until)

    async def claim_one(
        self, run_id: RunId, holder: str, term: timedelta, *, seen_seq: int
    ) -> Lease | None:
        return await self.inner.claim_one(run_id, holder, term, seen_seq=seen_seq)

    async def defer(
        self,
        lease: Lease,
        *,
        until: datetime,
        seen_seq: int | None = None,
        is_fault: bool = False,
    ) -> None:
        await self.inner.defer(lease, until=until, seen_seq=seen_seq, is_fault=is_fault)


async def test_a_store_that_is_away_does_not_end_the_loop_and_is_told_of_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    there = asyncio.Event()

    async def work(guard: LeaseGuard, stopping: asyncio.Event) -> None:
        there.set()
        await b.store.run_leases.suspend(guard.lease, seen_seq=1, until=None)

    async with bench(tmp_path, [], []) as b, asyncio.timeout(20):
        await b.start()
        loop = LeaseLoop(
            Away(b.store.run_leases),
            b.store.wakeups,
            work,
            holder="p",
            term=SHORT,
            concurrency=1,
        )
        running = asyncio.create_task(loop.run())
        await there.wait()
        await loop.stop(timedelta(seconds=10))
        await running
        assert loop.has_claimed
    assert caplog.messages == ["nothing can be claimed now: locked"]


@dataclass
class NotRenewed(Away):
    """Leases that are claimed, and can't be renewed, for one reason or another."""

    fails_at: tuple[int, ...] = ()
    renewals: int = 0
    has_failed_often: asyncio.Event = field(default_factory=asyncio.Event)

    async def renew(self, holder: str, leases: Collection[Lease], term: timedelta) -> Renewal:
        self.renewals += 1
        if self.renewals == 6:
            self.has_failed_often.set()
        raise StoreUnavailable("refused" if self.renewals % 2 else "broken off")


async def test_leases_that_can_not_be_renewed_are_told_of_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(holding, "RENEW_AGAIN", 0.0)

    async with bench(tmp_path, [], []) as b, asyncio.timeout(20):
        leases = NotRenewed(b.store.run_leases)

        async def work(guard: LeaseGuard, stopping: asyncio.Event) -> None:
            await leases.has_failed_often.wait()
            await b.store.run_leases.suspend(guard.lease, seen_seq=1, until=None)

        await b.start()
        loop = LeaseLoop(leases, b.store.wakeups, work, holder="p", term=SHORT, concurrency=1)
        running = asyncio.create_task(loop.run())
        await leases.has_failed_often.wait()
        await loop.stop(timedelta(seconds=10))
        await running
    told = [one for one in caplog.messages if "renewed" in one]
    assert told == [f"the leases can't be renewed now: {why}" for why in ("refused", "broken off")]


class Unheard:
    """Leases of which the answer to the second claim that gives any does not arrive."""

    def __init__(self, inner: Leases) -> None:
        self._inner = inner
        self._claims = 0

    async def claim(self, *args: Any, **named: Any) -> list[Lease]:
        claimed = await self._inner.claim(*args, **named)
        self._claims += bool(claimed)
        if claimed and self._claims == 2:
            raise CommitInDoubt("It can't be told whether it was done.")
        return claimed

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


async def test_what_a_claim_took_whose_answer_was_lost_is_worked_at_once(tmp_path: Path) -> None:
    """It is ours for the store, and we know nothing of it: nobody else would work it before its lease ends."""
    worked = asyncio.Queue[RunId]()
    may_end = asyncio.Event()

    async def work(guard: LeaseGuard, stopping: asyncio.Event) -> None:
        await worked.put(guard.lease.run_id)
        await may_end.wait()
        await b.store.run_leases.suspend(guard.lease, seen_seq=1, until=None)

    async with bench(tmp_path, [], []) as b, asyncio.timeout(20):
        leases = cast(Leases, Unheard(b.store.run_leases))
        loop = LeaseLoop(leases, b.store.wakeups, work, holder="p", term=TERM, concurrency=2)
        running = asyncio.create_task(loop.run())
        for _ in range(2):
            # What is worked already is not begun again.
            assert await b.start() == await worked.get()
        may_end.set()
        await loop.stop(timedelta(seconds=10))
        await running
        assert worked.empty()


async def test_what_was_taken_up_is_worked_to_its_end_though_the_store_goes_away(
    tmp_path: Path,
) -> None:
    may_end, ended = asyncio.Event(), []

    async def work(guard: LeaseGuard, stopping: asyncio.Event) -> None:
        await may_end.wait()
        ended.append(guard.lease.run_id)
        await b.store.run_leases.suspend(guard.lease, seen_seq=1, until=None)

    async with bench(tmp_path, [], []) as b, asyncio.timeout(20):
        for _ in range(3):
            await b.start()
        leases = Away(b.store.run_leases, fails_at=(2,))
        loop = LeaseLoop(leases, b.store.wakeups, work, holder="p", term=TERM, concurrency=2)
        taking_up = asyncio.create_task(loop.take_up_due())

        async def is_full() -> bool:
            return leases.tries == 1

        await until(is_full)
        may_end.set()
        with pytest.raises(StoreUnavailable):
            await taking_up
        assert len(ended) == 2


FAULTS = [
    RuntimeError("a fault of ours"),
    StoreUnavailable("locked"),
    Blocked("missing_tool", "no tool"),
    UnknownEvent("flown", 1),
]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: type(fault).__name__)
async def test_a_run_that_meets_a_fault_is_put_off_and_not_tried_in_a_circle(
    tmp_path: Path, fault: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with bench(tmp_path, [], [says("ok")]) as b, asyncio.timeout(20):
        tries: list[int] = []
        met = asyncio.Event()

        async def fails(*args: object) -> None:
            tries.append(1)
            met.set()
            raise fault

        monkeypatch.setattr(type(b.engine), "advance", fails)
        run_id = await b.start()
        worker = b.runtime.worker(process_id="p")
        running = asyncio.create_task(worker.run())
        await met.wait()
        while (row := await b.store.lists.run(run_id)) and row.holder:
            await b.store.wakeups.wait(b.store.wakeups.moves, 0.05)
        await worker.stop(timedelta(seconds=10))
        await running
        assert tries == [1]
        assert await b.store.run_leases.claim("p", TERM, 1) == [], "not before its time"
        b.clock.advance(timedelta(seconds=30))
        assert len(await b.store.run_leases.claim("p", TERM, 1)) == 1
