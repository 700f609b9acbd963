"""Runs that can't be worked: parked with a reason, starving nobody, taken on again."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from agent import Committed, Interrupted, Rejected, Settle, ToolContext, tool
from agent.engine.advance import CLAIMS_LIMIT
from agent.engine.worker import Worker
from agent.rules.recorded import Stamped
from tests.agent.engine.bench import OPERATOR, TERM, Bench, bench, calls, says, until
from tests.agent.engine.crashing import HookedJournal, StoreWith


async def die_with(b: Bench, times: int) -> None:
    """So many processes claim what is due, and end without a word."""
    for _ in range(times):
        [_] = await b.store.run_leases.claim("gone", TERM, 1)
        b.clock.advance(TERM * 2)


async def test_a_run_that_kills_each_process_is_failed_with_its_reason(tmp_path: Path) -> None:
    async with bench(tmp_path, [], [says("ok")]) as b:
        run_id = await b.start()
        await die_with(b, CLAIMS_LIMIT)
        await b.work()
        state = await b.runtime.state(run_id)
        assert state.ending == "failed"
        assert f"taken up {CLAIMS_LIMIT} times" in (state.error or "")


async def test_a_run_that_was_to_be_stopped_is_stopped_then_not_failed(tmp_path: Path) -> None:
    @tool(approval=False, effect="idempotent")
    def put(context: ToolContext) -> str:
        """Put."""
        raise Interrupted("the process died")

    async with bench(tmp_path, [put], [calls(("put", "{}"))]) as b:
        run_id = await b.start()
        await b.work()
        await b.runtime.stop(run_id, OPERATOR.principal)
        await die_with(b, CLAIMS_LIMIT)
        await b.work()
        state = await b.runtime.state(run_id)
        assert state.ending == "cancelled"
        assert [approval.kind for approval in state.open_approvals] == ["review"]


async def test_one_claim_less_and_the_run_goes_on(tmp_path: Path) -> None:
    async with bench(tmp_path, [], [says("ok")]) as b:
        run_id = await b.start()
        await die_with(b, CLAIMS_LIMIT - 1)
        await b.work()
        assert (await b.runtime.state(run_id)).answer == "ok"


async def test_claims_are_counted_since_the_journal_last_moved(tmp_path: Path) -> None:
    async with bench(tmp_path, [], [says("ok")]) as b:
        run_id = await b.start()
        await die_with(b, CLAIMS_LIMIT - 1)
        guard = await b.claim()
        assert guard.lease.claims == CLAIMS_LIMIT
        await b.store.run_leases.defer(guard.lease, until=b.clock.now())
        assert (await b.claim()).lease.claims == 1, "it was let go in good order"
        assert not (await b.runtime.state(run_id)).is_ended


async def test_a_fault_of_ours_fails_the_run_in_the_end_and_no_other(tmp_path: Path) -> None:
    async with bench(tmp_path, [], [says("ok")]) as b:
        poisoned = await b.start()

        def explode(events: Sequence[Stamped]) -> None:
            if any(one.event.kind == "run_finished" for one in events):
                raise ZeroDivisionError("a fault of ours")

        store = StoreWith(b.store, HookedJournal(b.store.journal, before_intend=explode))
        sick = replace(b.engine, store=store)
        # The first time the model's reply is recorded, which is progress.
        for _ in range(CLAIMS_LIMIT + 1):
            worker = Worker(sick, process_id="p", concurrency=4, term=TERM)
            working = asyncio.create_task(worker.run())

            async def is_put_off(worker: Worker = worker) -> bool:
                if not worker.has_claimed:
                    return False
                row = await b.store.lists.run(poisoned)
                return row is not None and row.holder is None

            await until(is_put_off)
            await worker.stop()
            await working
            b.clock.advance(timedelta(minutes=1))
        state = await b.runtime.state(poisoned)
        assert state.ending == "failed"
        assert "ZeroDivisionError" in (state.error or "")
        healthy = await b.start()
        await b.work()
        assert (await b.runtime.state(healthy)).answer == "ok"


@pytest.mark.parametrize(
    ("found", "receipt", "reviews"),
    [(Committed("sent"), "committed", 0), (Rejected("no"), "rejected", 0), (None, "unknown", 1)],
)
async def test_an_effect_of_a_run_that_is_given_up_can_still_be_looked_up_and_settled(
    found: Committed | Rejected | None, receipt: str, reviews: int, tmp_path: Path
) -> None:
    @tool(approval=False, reconcile=lambda _: found)
    def pay() -> None:
        """Pay."""
        raise Interrupted("the line went dead")

    async with bench(tmp_path, [pay], [calls(("pay", "{}"))]) as b:
        run_id = await b.start()
        guard = await b.claim()
        working = asyncio.create_task(b.engine.advance(guard, asyncio.Event()))

        async def is_started() -> bool:
            return any(c.status == "started" for c in (await b.runtime.state(run_id)).open_calls)

        await until(is_started)
        working.cancel()
        await asyncio.gather(working, return_exceptions=True)
        b.clock.advance(timedelta(hours=1))
        await die_with(b, CLAIMS_LIMIT)
        await b.work()
        state = await b.runtime.state(run_id)
        assert state.ending == "failed"
        [review] = state.open_approvals
        assert review.kind == "review"
        await b.runtime.decide(review.id, Settle("check"), OPERATOR)
        await b.work()
        after = await b.runtime.state(run_id)
        [call] = after.calls.values()
        assert call.receipt is not None
        assert (call.receipt.status, after.ending) == (receipt, "failed")
        assert len(after.open_approvals) == reviews
        for again in after.open_approvals:
            await b.runtime.decide(again.id, Settle("happened"), OPERATOR)
