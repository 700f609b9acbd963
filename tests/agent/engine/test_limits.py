"""Limits from a call to its receipt: kept, gone over by people alone, given back when nothing happened."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import JsonValue

from agent import (
    Approve,
    Deny,
    GrantWish,
    Interrupted,
    Policy,
    Rejected,
    Settle,
    Steer,
    tool,
)
from agent.errors import InvalidArgs
from agent.rules.effects import reserved
from agent.rules.events import CallJudged, CallStarted
from agent.rules.ids import RunId
from agent.rules.shapes import approval_shape
from agent.rules.state import RunState
from tests.agent.engine.bench import OPERATOR, TERM, bench, calls, says
from tests.agent.engine.clock import SteppedClock
from tests.agent.engine.spending import BOB, DAY, Bank, again, decide, limited, paying, pays, used
from tests.agent.engine.test_dry_run import from_now_on


def statuses(state: RunState) -> list[str]:
    return [call.status for call in state.calls.values()]


class TestSeveralCallsOfOneReply:
    async def test_run_as_far_as_the_limit_goes(self, tmp_path: Path) -> None:
        bank = Bank()
        replies = [pays(200, 200, 200), says("done")]
        async with bench(tmp_path, [bank.tool()], replies, limited()) as b:
            state = await b.play()
            assert bank.paid == [200, 200]
            (asked,) = state.open_approvals
            assert asked.requested.reason == (
                "$200.00 more would make $600.00 of $500.00, the limit for each person a day"
            )
            assert await used(b, state) == 400
            state = await decide(b, state, Approve())
            assert (state.ending, bank.paid) == ("finished", [200, 200, 200])
            assert await used(b, state) == 600, "what people let through counts"

    async def test_a_smaller_one_behind_one_that_is_too_much_still_runs(
        self, tmp_path: Path
    ) -> None:
        bank = Bank()
        async with bench(tmp_path, [bank.tool()], [pays(501, 499), says("k")], limited()) as b:
            assert statuses(await b.play()) == ["waiting", "ended"]
        assert bank.paid == [499]

    async def test_are_refused_beyond_it_and_the_model_hears_why(self, tmp_path: Path) -> None:
        bank = Bank()
        replies = [pays(300, 300), says("ok")]
        async with bench(tmp_path, [bank.tool()], replies, limited(over="deny")) as b:
            state = await b.play()
        refused = list(state.calls.values())[1]
        assert refused.result is not None
        assert (refused.result.outcome, refused.result.output) == (
            "refused",
            "The policy does not allow it: $300.00 more would make $600.00 of $500.00,"
            " the limit for each person a day",
        )
        assert (bank.paid, state.ending) == ([300], "finished")


class TestRunsAfterEachOther:
    async def test_share_it_until_the_day_is_over(self, tmp_path: Path) -> None:
        bank, clock = Bank(), SteppedClock()
        async with bench(tmp_path, [bank.tool()], paying(300), limited(over="deny"), clock) as b:
            await b.play()
            await b.play()
            assert bank.paid == [300]
            clock.advance(DAY / 2)  # From noon to midnight.
            await b.play()
            assert bank.paid == [300, 300]

    async def test_a_call_that_waits_over_midnight_counts_on_the_day_of_its_start(
        self, tmp_path: Path
    ) -> None:
        bank, clock = Bank(), SteppedClock()
        async with bench(tmp_path, [bank.tool()], paying(400), limited("ask"), clock) as b:
            state = await decide(b, await b.play(), Approve())
            first = await used(b, state)
            waits = await b.play()
            assert waits.open_approvals[0].requested.reason.endswith("for each person a day")
            clock.advance(DAY)
            state = await decide(b, waits, Approve())
            assert (first, await used(b, state), bank.paid) == (400, 400, [400, 400])


class TestAYes:
    async def test_to_what_was_within_the_limit_is_none_to_going_over_it(
        self, tmp_path: Path
    ) -> None:
        bank = Bank()
        async with bench(tmp_path, [bank.tool()], paying(300), limited("ask")) as b:
            first = await b.play()
            second = await b.play()
            await decide(b, first, Approve())
            state = await decide(b, second, Approve())
            (asked,) = state.open_approvals
            assert asked.requested.again_because == (
                "others have used more of its limit since, and now it goes over that"
            )
            assert "would make $600.00 of $500.00" in asked.requested.reason
            assert bank.paid == [300]
            state = await decide(b, state, Approve())
            assert (state.ending, bank.paid) == ("finished", [300, 300])

    async def test_that_is_refused_at_the_start_never_runs(self, tmp_path: Path) -> None:
        bank = Bank()
        async with bench(tmp_path, [bank.tool()], paying(300), limited("ask", "deny")) as b:
            first, second = await b.play(), await b.play()
            await decide(b, first, Approve())
            assert (await decide(b, second, Approve())).ending == "finished"
        assert bank.paid == [300]

    async def test_given_beforehand_covers_nothing_over_the_limit(self, tmp_path: Path) -> None:
        bank = Bank()
        policy = limited("ask", grants={"scopes": ["run"]})
        replies = [pays(200), pays(200), pays(200), says("k")]
        async with bench(tmp_path, [bank.tool()], replies, policy) as b:
            state = await decide(b, await b.play(), Approve(grant=GrantWish("run")))
            assert bank.paid == [200, 200]
            (asked,) = state.open_approvals
            with pytest.raises(InvalidArgs, match="no grant"):
                await b.runtime.decide(asked.id, Approve(grant=GrantWish("run")), BOB)


class TestASteer:
    async def test_to_what_is_left_runs(self, tmp_path: Path) -> None:
        bank = Bank()
        async with bench(tmp_path, [bank.tool()], [pays(600), says("k")], limited()) as b:
            state = await decide(b, await b.play(), Steer(args={"amount": 500}))
            assert (state.ending, bank.paid, await used(b, state)) == ("finished", [500], 500)

    async def test_to_more_than_is_left_is_asked_about_even_of_whoever_may_decide(
        self, tmp_path: Path
    ) -> None:
        bank = Bank()
        async with bench(tmp_path, [bank.tool()], [pays(600), says("k")], limited()) as b:
            state = await decide(b, await b.play(), Steer(args={"amount": 550}))
            (asked,) = state.open_approvals
            assert "would make $550.00 of $500.00" in asked.requested.reason
            assert bank.paid == []

    async def test_to_more_than_is_left_is_an_error_at_its_field_where_that_is_refused(
        self, tmp_path: Path
    ) -> None:
        async with bench(
            tmp_path, [Bank().tool()], [pays(300), says("k")], limited("ask", "deny")
        ) as b:
            (asked,) = (await b.play()).open_approvals
            with pytest.raises(InvalidArgs) as refused:
                await b.runtime.decide(asked.id, Steer(args={"amount": 501}), BOB)
            assert "would make $501.00 of $500.00" in refused.value.errors["amount"]


class TestAReceipt:
    async def test_that_nothing_happened_gives_it_back(self, tmp_path: Path) -> None:
        bank = Bank(answers=[Rejected("no funds")])
        async with bench(tmp_path, [bank.tool()], paying(400), limited()) as b:
            state = await b.play()
            assert await used(b, state) == 0
            assert (await b.play()).ending == "finished"
        assert bank.paid == [400]

    async def test_of_which_nobody_knows_holds_it_until_somebody_does(self, tmp_path: Path) -> None:
        bank = Bank(answers=[ConnectionError("no answer")])
        async with bench(tmp_path, [bank.tool()], paying(400), limited(over="deny")) as b:
            unknown = await b.play()
            assert await used(b, unknown) == 400
            await b.play()
            assert bank.paid == []
            unknown = await decide(b, unknown, Settle("not_happened"), OPERATOR)
            assert (bank.paid, await used(b, unknown)) == ([400], 400)

    async def test_that_it_did_not_happen_has_it_start_within_what_is_left_now(
        self, tmp_path: Path
    ) -> None:
        bank = Bank(answers=[Interrupted()])
        clock = SteppedClock()
        async with bench(
            tmp_path, [bank.tool(reconciles=True)], paying(400), limited(), clock
        ) as b:
            lost = await b.play()
            assert statuses(lost) == ["started"]
            clock.advance(TERM)  # It is looked up, was not heard of, and starts again.
            lost = await again(b, lost)
            assert (bank.paid, await used(b, lost)) == ([400], 400)


async def test_an_attempt_more_takes_no_more_and_is_asked_about_by_no_limit(
    tmp_path: Path,
) -> None:
    bank, clock = Bank(answers=[Interrupted()]), SteppedClock()
    async with bench(tmp_path, [bank.tool("idempotent")], paying(400), limited(), clock) as b:
        lost = await b.play()
        other = await b.play()
        # Meanwhile people let others go far over it.
        await decide(b, other, Approve())
        clock.advance(TERM)
        lost = await again(b, lost)
        assert (lost.ending, lost.open_approvals) == ("finished", ())
        assert (bank.paid, await used(b, lost)) == ([400, 400], 800)


async def test_an_attempt_more_on_the_next_day_counts_on_the_day_of_the_first(
    tmp_path: Path,
) -> None:
    bank, clock = Bank(answers=[Interrupted()]), SteppedClock()
    async with bench(tmp_path, [bank.tool("idempotent")], paying(400), limited(), clock) as b:
        lost = await b.play()
        clock.advance(DAY)
        lost = await again(b, lost)
        assert await used(b, lost) == 400
        assert (await b.play()).ending == "finished", "the new day has all of it"
    assert bank.paid == [400, 400]


async def test_reads_are_counted_too_whatever_comes_of_them(tmp_path: Path) -> None:
    asked: list[str] = []

    @tool(effect="read")
    def look(order: str) -> str:
        """Look an order up."""
        asked.append(order)
        if order == "A":
            raise LookupError("no such order")
        return "open"

    rule = {"tool": "look", "action": "allow", "limit": {"count": True, "per": ["run"], "max": 2}}
    policy = Policy.model_validate({"owners": {"users": ["U0BOB"]}, "rules": [rule]})
    replies = [*(calls(("look", f'{{"order": "{order}"}}')) for order in "ABC"), says("k")]
    async with bench(tmp_path, [look], replies, policy) as b:
        (waiting,) = (await b.play()).open_approvals
        assert waiting.requested.reason == (
            "1 call more would make 3 of 2 calls, the limit in each run"
        )
        await b.play()
    assert asked == ["A", "B", "A", "B"]


async def test_a_dry_run_takes_nothing_and_shows_what_is_used(tmp_path: Path) -> None:
    bank = Bank()
    async with bench(tmp_path, [bank.tool()], paying(600), limited()) as b:
        dry = from_now_on(b, dry_run=True)
        state = await dry.play()
        (asked,) = state.open_approvals
        assert "would make $600.00" in asked.requested.reason
        state = await decide(dry, state, Approve())
        assert (state.ending, reserved(state), bank.paid) == ("finished", (), [])


async def test_a_fork_takes_none_of_it_along(tmp_path: Path) -> None:
    bank = Bank()
    async with bench(tmp_path, [bank.tool()], paying(300), limited()) as b:
        state = await b.play()
        forked = await b.runtime.fork(state.run_id, at=state.seq - 1, by=BOB.principal)
        await b.work()
        assert reserved(await b.runtime.state(RunId(forked))) == ()
        assert (await used(b, state), bank.paid) == (300, [300])


async def test_a_denied_call_takes_nothing(tmp_path: Path) -> None:
    async with bench(tmp_path, [Bank().tool()], [pays(600), says("k")], limited()) as b:
        state = await decide(b, await b.play(), Deny(reason="no"))
        assert (state.ending, reserved(state)) == ("finished", ())


async def test_what_is_used_and_left_is_in_the_approvals_json_and_in_the_journal(
    tmp_path: Path,
) -> None:
    async with bench(tmp_path, [Bank().tool()], [pays(320, 200), says("k")], limited()) as b:
        state = await b.play()
        (asked,) = state.open_approvals
        limit: JsonValue = approval_shape(asked, state)["limit"]
        recorded = await b.store.journal.read(state.run_id)
    assert limit == {
        "sum": "args.amount",
        "currency": "USD",
        "per": ["user", "day"],
        "zone": "UTC",
        "used": "320.00",
        "amount": "200.00",
        "max": "500",
        "left": "180.00",
        "is_over": True,
        "resets_at": "2026-11-30T00:00:00.000Z",
    }
    judged = [one.event for one in recorded if isinstance(one.event, CallJudged)]
    assert [one.verdict.limit is not None for one in judged] == [True, True]
    (started,) = [one.event for one in recorded if isinstance(one.event, CallStarted)]
    (reservation,) = started.reserves
    assert (int(reservation.amount), int(reservation.max)) == (320, 500)


async def test_no_limit_costs_nothing(tmp_path: Path) -> None:
    """What stands in the journal is what stood there before there were limits."""
    policy = Policy.model_validate({"rules": [{"tool": "pay", "action": "allow"}]})
    async with bench(tmp_path, [Bank().tool()], paying(300), policy) as b:
        recorded = await b.store.journal.read((await b.play()).run_id)
    assert max(one.event.form for one in recorded) < 6
