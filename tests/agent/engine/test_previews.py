"""Previews: made once and journaled, made again only where they must match."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path

from agent import Approve, tool
from agent.rules.events import CallPreviewed
from agent.rules.state import Approval
from agent.tools.declare import Tool
from tests.agent.engine.bench import OPERATOR, Bench, bench, calls, says


class Shop:
    """What a preview reads and an effect changes."""

    def __init__(self) -> None:
        self.price = 10
        self.sold_for: list[int] = []
        self.previews = 0

    def tool(self, *, preview_must_match: bool) -> Tool:
        def preview() -> str:
            self.previews += 1
            return f"sells for {self.price}"

        @tool(approval=True, preview=preview, preview_must_match=preview_must_match)
        def sell() -> None:
            """Sell."""
            self.sold_for.append(self.price)

        return sell


async def pending(b: Bench) -> Approval:
    [(approval, _)] = await b.runtime.approvals()
    return approval


async def test_a_preview_is_a_fact_of_the_journal_and_not_made_again(tmp_path: Path) -> None:
    shop = Shop()
    sell = shop.tool(preview_must_match=False)
    async with bench(tmp_path, [sell], [calls(("sell", "{}")), says("sold")]) as b:
        run_id = await b.start()
        await b.work()
        approval = await pending(b)
        assert approval.requested.preview == "sells for 10"
        shop.price = 12
        await b.runtime.decide(approval.id, Approve(), OPERATOR)
        await b.work()
        events = [one.event for one in await b.store.journal.read(run_id)]
        assert [e.preview for e in events if isinstance(e, CallPreviewed)] == ["sells for 10"]
        assert (shop.previews, shop.sold_for) == (1, [12])


async def test_a_preview_that_must_match_is_made_again_before_the_start(tmp_path: Path) -> None:
    shop = Shop()
    sell = shop.tool(preview_must_match=True)
    async with bench(tmp_path, [sell], [calls(("sell", "{}")), says("sold")]) as b:
        await b.start()
        await b.work()
        await b.runtime.decide((await pending(b)).id, Approve(), OPERATOR)
        await b.work()
        assert (shop.previews, shop.sold_for) == (2, [10])


async def test_what_would_happen_has_changed_since_the_yes_so_it_is_asked_again(
    tmp_path: Path,
) -> None:
    shop = Shop()
    sell = shop.tool(preview_must_match=True)
    async with bench(tmp_path, [sell], [calls(("sell", "{}")), says("sold")]) as b:
        run_id = await b.start()
        await b.work()
        first = await pending(b)
        shop.price = 12
        await b.runtime.decide(first.id, Approve(), OPERATOR)
        await b.work()
        second = await pending(b)
        assert second.requested.supersedes == first.id
        assert second.requested.preview == "sells for 12"
        assert "has changed" in (second.requested.again_because or "")
        assert shop.sold_for == []
        await b.runtime.decide(second.id, Approve(), OPERATOR)
        await b.work()
        assert shop.sold_for == [12]
        assert (await b.runtime.state(run_id)).answer == "sold"


async def test_a_preview_that_changes_each_time_is_asked_three_times_more_and_refused(
    tmp_path: Path,
) -> None:
    shop = Shop()
    sell = shop.tool(preview_must_match=True)
    async with bench(tmp_path, [sell], [calls(("sell", "{}")), says("given up")]) as b:
        run_id = await b.start()
        await b.work()
        asked = 0
        while approvals := await b.runtime.approvals():
            asked += 1
            shop.price += 1
            await b.runtime.decide(approvals[0][0].id, Approve(), OPERATOR)
            await b.work()
        state = await b.runtime.state(run_id)
        assert (asked, shop.sold_for, state.answer) == (4, [], "given up")
        [call] = state.calls.values()
        assert call.result is not None
        assert call.result.outcome == "refused"


async def test_a_preview_that_was_made_again_long_ago_is_made_once_more(tmp_path: Path) -> None:
    shop = Shop()
    sell = shop.tool(preview_must_match=True)
    async with bench(tmp_path, [sell], [calls(("sell", "{}")), says("sold")]) as b:
        run_id = await b.start()
        await b.work()
        await b.runtime.decide((await pending(b)).id, Approve(), OPERATOR)
        state = await b.runtime.state(run_id)
        [call] = state.calls.values()
        found_equal = CallPreviewed(call_id=call.id, preview="sells for 10")
        guard = await b.claim()
        stamped = b.stamp(found_equal)
        await b.store.journal.record(run_id, [stamped], fence=guard.lease.fence)
        # Whoever looked is gone; an hour later another holder starts the call.
        b.clock.advance(timedelta(hours=1))
        shop.price = 15
        await b.work()
        assert (shop.previews, shop.sold_for) == (2, [])
        assert (await pending(b)).requested.preview == "sells for 15"


async def test_a_preview_that_fails_or_hangs_is_told_and_the_call_is_asked_all_the_same(
    tmp_path: Path,
) -> None:
    def broken() -> str:
        raise OSError("no route")

    async def hanging() -> str:
        await asyncio.Event().wait()
        return ""

    @tool(approval=True, preview=broken)
    def sell() -> None:
        """Sell."""

    @tool(approval=True, preview=hanging, timeout=0.05)
    def buy() -> None:
        """Buy."""

    proposed = calls(("sell", "{}"), ("buy", "{}"))
    async with bench(tmp_path, [sell, buy], [proposed, says("ok")]) as b:
        run_id = await b.start()
        await b.work()
        asked = await b.runtime.approvals()
        assert [approval.requested.preview for approval, _ in asked] == [None, None]
        assert len({approval.requested.group for approval, _ in asked}) == 1
        errors = {
            call.tool: call.preview_error for call in (await b.runtime.state(run_id)).calls.values()
        }
        assert errors == {"sell": "OSError: no route", "buy": "it took longer than 0.05 s"}


async def test_a_stop_is_heard_while_a_preview_takes_its_time(tmp_path: Path) -> None:
    begun = asyncio.Event()

    async def slow() -> str:
        begun.set()
        await asyncio.Event().wait()
        return ""

    @tool(approval=True, preview=slow, timeout=3_600)
    def sell() -> None:
        """Sell."""

    async with bench(tmp_path, [sell], [calls(("sell", "{}")), says("ok")]) as b:
        await b.start()
        guard = await b.claim()
        working = asyncio.create_task(b.engine.advance(guard, asyncio.Event()))
        await begun.wait()
        guard.lose()
        [ended] = await asyncio.gather(working, return_exceptions=True)
        assert type(ended).__name__ == "LeaseLost"


async def test_a_preview_with_half_a_character_is_shown_and_can_be_approved(tmp_path: Path) -> None:
    done: list[int] = []

    @tool(approval=True, preview=lambda: "half \ud83d of it")
    def sell() -> None:
        """Sell."""
        done.append(1)

    async with bench(tmp_path, [sell], [calls(("sell", "{}")), says("sold")]) as b:
        await b.start()
        await b.work()
        approval = await pending(b)
        assert approval.requested.preview == "half \ufffd of it"
        await b.runtime.decide(approval.id, Approve(), OPERATOR)
        await b.work()
        assert done == [1]
