"""Processes that fight for the runs of one store: ``python -m tests.chaos.fighters URL PLAN``.

One process that has everything imported and nothing opened divides itself into as many as the plan
wants, each of which then opens the store for itself. What they saw is told on stdout.
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import random
import sys
import time
import traceback
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from multiprocessing.synchronize import Event as Over
from typing import Any, Literal

from agent.errors import LeaseLost, SeqConflict
from agent.ports import Lease
from agent.rules.events import ModelReplied
from agent.rules.fold import fold
from agent.rules.ids import CallId, OperationId, RunId
from agent.rules.parts import ProposedCall
from agent.rules.state import RunState
from store import SqlStore, open_store
from store.instants import microseconds
from tests.chaos.report import Claim, Report
from tests.chaos.unguarded import Guard, without
from tests.store.story import decided, requested, returned, stamps

Role = Literal["worker", "decider", "fighter"]

LONG, SHORT = timedelta(hours=1), timedelta(milliseconds=8)
#: The agents whose runs are worked and decided, and fought for.
WORKED, FOUGHT = "refunds", "fights"
#: How long nothing may happen before whoever waits gives up.
PATIENCE = 60.0
#: The same for a decision that is to come between a look and a suspension.
DECIDED_WITHIN = 5.0


@dataclass(frozen=True)
class Plan:
    """Who fights; each decider makes so many decisions, and each fighter tries to write so often."""

    roles: dict[Role, int]
    tries: int
    guard: Guard = "none"
    #: Is each run decided between its worker's look and its suspension? Else that is luck.
    decides_between: bool = False


@dataclass
class Fighter:
    """One process."""

    store: SqlStore
    report: Report
    plan: Plan
    over: Over

    @property
    def name(self) -> str:
        return self.report.name

    @property
    def decisions(self) -> int:
        return self.report.tries["decide"] - self.report.refused["decide"]

    async def work(self) -> None:
        """Claim, answer what was decided and ask anew, suspend; until nobody decides any more and
        nothing is due."""
        while True:
            is_over, moves = self.over.is_set(), self.store.wakeups.moves
            leases = await self.claim(WORKED, LONG, random.randint(1, 5))
            for lease, claim in leases:
                await self.serve(lease, claim)
            if not leases and is_over:
                return
            if not leases:
                await self.store.wakeups.wait(moves, 0.05)

    async def claim(self, agent: str, term: timedelta, limit: int) -> list[tuple[Lease, Claim]]:
        leases = await self.store.run_leases.claim(self.name, term, limit, [agent])
        # A look that finds nothing to claim is no try.
        for _ in leases:
            self.report.tried("claim", is_refused=False)
        return [(lease, self.report.claimed(lease, microseconds(term))) for lease in leases]

    async def serve(self, lease: Lease, claim: Claim) -> None:
        while True:
            state = fold(await self.store.journal.read(lease.run_id))
            try:
                seq = await self.answer(lease, state)
                await self.look_away(lease.run_id, seq)
                is_let_go = await self.store.run_leases.suspend(lease, seen_seq=seq, until=None)
            except SeqConflict:
                continue
            except LeaseLost:
                self.report.tried("suspend", is_refused=True)
                return
            self.report.tried("suspend", is_refused=not is_let_go)
            if is_let_go:
                claim.ending = "let go"
                return

    async def look_away(self, run_id: RunId, seen_seq: int) -> None:
        """Time for a decision to land between the look and the suspension."""
        if not self.plan.decides_between:
            await asyncio.sleep(random.uniform(0, 0.004))
            return
        until = time.monotonic() + DECIDED_WITHIN
        while time.monotonic() < until and not self.over.is_set():
            moves = self.store.wakeups.moves
            run = await self.store.lists.run(run_id)
            if run is None or run.head_seq > seen_seq:
                return
            await self.store.wakeups.wait(moves, 0.05)

    async def answer(self, lease: Lease, state: RunState) -> int:
        """Append what follows from what was decided, if anything was; up to where it was seen."""
        if state.approvals and not unanswered(state):
            return state.seq
        call_id = f"{lease.run_id}-{lease.fence}-{state.seq}"
        results = [returned(one) for one in unanswered(state)]
        reply = self.signed(lease, call_id)
        question = requested(f"apr-{call_id}", call_id)
        events = stamps(self.store.clock, *results, reply, question)
        added = await self.store.journal.intend(
            lease.run_id, events, expected_seq=state.seq, fence=lease.fence
        )
        return added[-1].seq

    def signed(self, lease: Lease, *call_ids: str) -> ModelReplied:
        """A fact that says who wrote it."""
        calls = tuple(
            ProposedCall(
                call_id=CallId(call_id),
                operation_id=OperationId(f"op-{call_id}"),
                model_call_id="m",
                tool="process_refund",
                arguments="{}",
            )
            for call_id in call_ids
        )
        return ModelReplied(text="", calls=calls, asked_at=1, model=str(lease.fence))

    async def decide(self) -> None:
        while self.decisions < self.plan.tries:
            moves = self.store.wakeups.moves
            rows = await self.store.lists.approvals(limit=20)
            if not rows:
                await self.wait_for_a_question(moves)
                continue
            chosen = random.choice(rows)
            run = await self.store.lists.run(chosen.run_id)
            assert run is not None
            events = stamps(self.store.clock, decided(chosen.approval_id))
            try:
                await self.store.journal.intend(run.run_id, events, expected_seq=run.head_seq)
            except SeqConflict:
                self.report.tried("decide", is_refused=True)
            else:
                self.report.tried("decide", is_refused=False)

    async def wait_for_a_question(self, moves: int) -> None:
        async with asyncio.timeout(PATIENCE):
            while not await self.store.lists.approvals(limit=1):
                await self.store.wakeups.wait(moves, 0.05)
                moves = self.store.wakeups.moves

    async def fight(self) -> None:
        """Claim for a moment, and write when that may be over."""
        while self.report.tries["fence"] < self.plan.tries:
            if not (leases := await self.claim(FOUGHT, SHORT, random.randint(1, 4))):
                await asyncio.sleep(0.002)
            for lease, claim in leases:
                await asyncio.sleep(random.uniform(0, 0.008))
                await self.write_late(lease, claim)

    async def write_late(self, lease: Lease, claim: Claim) -> None:
        leases = self.store.run_leases
        if random.random() < 0.2:
            renewed = (await leases.renew(self.name, [lease], SHORT)).extended
            self.report.tried("renew", is_refused=not renewed)
            for one in renewed:
                claim.until = round(one.expires_at.timestamp() * 1_000_000)
        try:
            events = stamps(self.store.clock, self.signed(lease))
            added = await self.store.journal.record(lease.run_id, events, fence=lease.fence)
            self.report.tried("fence", is_refused=False)
            if random.random() < 0.2:
                now, seen = self.store.clock.now(), added[-1].seq
                is_let_go = await leases.suspend(lease, seen_seq=seen, until=now)
                self.report.tried("suspend", is_refused=not is_let_go)
                claim.ending = "let go" if is_let_go else "left"
        except LeaseLost:
            self.report.tried("fence", is_refused=True)


def unanswered(state: RunState) -> list[CallId]:
    """The calls that were decided and have no result."""
    decisions = [one for one in state.approvals.values() if one.status != "pending"]
    calls = [one.requested.call_id for one in decisions]
    return [id for id in calls if id is not None and state.calls[id].result is None]


async def _be(role: Role, url: str, plan: Plan, report: Report, over: Over) -> None:
    opened = await open_store(url)
    try:
        fighter = Fighter(without(plan.guard, opened), report, plan, over)
        acts: dict[Role, Callable[[], Awaitable[None]]] = {
            "worker": fighter.work,
            "decider": fighter.decide,
            "fighter": fighter.fight,
        }
        await acts[role]()
    finally:
        await opened.close()


def _live(role: Role, url: str, plan: Plan, name: str, over: Over, told: Any) -> None:
    report = Report(name)
    random.seed(name)
    try:
        asyncio.run(_be(role, url, plan, report, over))
    except BaseException:
        report.error = traceback.format_exc()
    told.put(report.written())


def run(url: str, plan: Plan) -> list[dict[str, Any]]:
    """All of the plan at once; the workers go on until the others have ended."""
    context = multiprocessing.get_context("fork")
    over, told = context.Event(), context.Queue()
    names: list[tuple[Role, str]] = [
        (role, f"{role}-{n}") for role, count in plan.roles.items() for n in range(count)
    ]
    processes = [
        context.Process(target=_live, args=(role, url, plan, name, over, told))
        for role, name in names
    ]
    for process in processes:
        process.start()
    others = sum(role != "worker" for role, _ in names)
    reports = [told.get() for _ in range(others)]
    over.set()
    reports += [told.get() for _ in range(len(names) - others)]
    for process in processes:
        process.join()
    return reports


if __name__ == "__main__":
    sys.stdout.write(json.dumps(run(sys.argv[1], Plan(**json.loads(sys.argv[2])))))
