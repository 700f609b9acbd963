"""What time does to a waiting run, at its time and once, however many processes there are; and what it may
use up."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

import pytest

from agent import Approve, Budget, Decider, Deny, Policy, Principal, Runtime, tool
from agent.errors import AlreadyDecided, ApprovalExpired, NotAllowed
from agent.ports import ModelReply, ModelUnavailable
from agent.rules.interventions import ApprovalReminded
from agent.rules.parts import Escalation, Patience, Words
from agent.rules.rule import People
from agent.rules.state import Approval, RunState
from tests.agent.engine.bench import OPERATOR, TERM, bench, calls, says
from tests.agent.engine.patient import PatientPolicy
from tests.agent.engine.replicas import Replicas, begin, replicas

BOB = Principal("slack:T0PILOT:U0BOB")
LATE = Decider(Principal("slack:T0PILOT:U0LATE"), user="U0LATE")
HOUR = timedelta(hours=1)
TICK = timedelta(microseconds=1)


@tool(approval=True)
def send() -> str:
    """Send."""
    return "sent"


SENDS = [calls(("send", "{}")), says("done")]


def patient(**patience: object) -> Policy:
    owners = People(users=("U0BOB",))
    return PatientPolicy(owners=owners, patience=Patience.model_validate(patience))


async def asked(runtime: Runtime) -> tuple[RunState, Approval]:
    state = await runtime.settle(await begin(runtime))
    (approval,) = state.open_approvals
    return state, approval


class TestARunThatWaits:
    """``None`` wakes it: it falls due at the earliest of all its times, and not before."""

    @pytest.mark.parametrize(
        ("patience", "times"),
        [
            ({"expires": HOUR}, [HOUR]),
            ({"expires": HOUR, "remind": HOUR / 4}, [HOUR / 4, HOUR / 2, HOUR * 3 / 4, HOUR]),
            (
                {
                    "expires": HOUR,
                    "remind": HOUR * 2 / 5,
                    "escalate": (Escalation(after=HOUR / 2), Escalation(after=HOUR * 3 / 4)),
                },
                [HOUR * 2 / 5, HOUR / 2, HOUR * 3 / 4, HOUR * 4 / 5, HOUR],
            ),
        ],
    )
    async def test_is_due_at_each_of_its_times(
        self, patience: dict[str, object], times: list[timedelta], url: str
    ) -> None:
        async with replicas(url) as several:
            runtime = await several.runtime([send], SENDS, policy=patient(**patience))
            await asked(runtime)
            passed = timedelta()
            for at in times:
                several.clock.advance(at - passed - TICK)
                assert await is_due(several) is False
                several.clock.advance(TICK)
                assert await is_due(several) is True
                passed = at
                await runtime.recover()
            several.clock.advance(HOUR * 100)
            assert await is_due(several) is False, "now it waits for people alone"

    async def test_is_due_when_its_model_can_be_asked_again(self, tmp_path: Path) -> None:
        replies: list[ModelReply | Exception] = [ModelUnavailable("busy", 60.0), says("done")]
        async with bench(tmp_path, [], replies) as b:
            await b.start()
            await b.work()
            b.clock.advance(timedelta(seconds=60) - TICK)
            assert await b.store.run_leases.claim("x", TERM, 1) == []
            b.clock.advance(TICK)
            assert len(await b.store.run_leases.claim("x", TERM, 1)) == 1

    async def test_is_reminded_while_it_is_held(self, url: str) -> None:
        async with replicas(url) as several:
            policy = patient(expires=HOUR, remind=HOUR / 4, on_expiry="deny")
            runtime = await several.runtime([send], SENDS, policy=policy)
            state, approval = await asked(runtime)
            await runtime.hold(state.run_id, BOB, wait=True)
            several.clock.advance(HOUR / 4)
            assert await runtime.recover() == [state.run_id]
            assert (await runtime.state(state.run_id)).approvals[approval.id].reminders == 1
            several.clock.advance(HOUR)
            await runtime.recover()
            held = await runtime.state(state.run_id)
            assert held.approvals[approval.id].status == "expired"
            assert (held.model_calls, held.open_calls) == (1, ())


async def is_due(several: Replicas) -> bool:
    """Would a worker take anything up now? It is put back at once, as due as it was."""
    leases = several.stores[0].run_leases
    claimed = await leases.claim("looks", TERM, 10)
    for lease in claimed:
        await leases.defer(lease, until=several.clock.now())
    return bool(claimed)


async def test_several_workers_remind_once(url: str) -> None:
    async with replicas(url) as several:
        policy = patient(expires=HOUR * 24, remind=HOUR)
        runtimes = [await several.runtime([send], SENDS, policy=policy) for _ in range(3)]
        state, approval = await asked(runtimes[0])
        for _ in range(3):
            several.clock.advance(HOUR)
            await asyncio.gather(*(runtime.recover() for runtime in runtimes))
        # Missed ones are one.
        several.clock.advance(HOUR * 5)
        await asyncio.gather(*(runtime.recover() for runtime in runtimes))
        recorded = await runtimes[0].store.journal.read(state.run_id)
        reminded = [r.event for r in recorded if isinstance(r.event, ApprovalReminded)]
        assert [one.number for one in reminded] == [1, 2, 3, 8]
        assert {one.approval_id for one in reminded} == {approval.id}


async def test_whoever_is_escalated_to_may_decide_from_then_on(url: str) -> None:
    async with replicas(url) as several:
        policy = patient(expires=HOUR, escalate=(Escalation(after=HOUR / 2, users=("U0LATE",)),))
        runtime = await several.runtime([send], SENDS, policy=policy)
        _, approval = await asked(runtime)
        with pytest.raises(NotAllowed):
            await runtime.decide(approval.id, Approve(), LATE)
        several.clock.advance(HOUR / 2)
        await runtime.recover()
        assert (await runtime.decide(approval.id, Approve(), LATE, wait=True)).answer == "done"


Race = Callable[[Runtime, Runtime, Approval], list[Awaitable[object]]]
RACES: dict[str, Race] = {
    "the decision first": lambda one, two, a: [
        one.decide(a.id, Approve(), OPERATOR),
        two.recover(),
    ],
    "the expiry first": lambda one, two, a: [two.recover(), one.decide(a.id, Approve(), OPERATOR)],
}


@pytest.mark.parametrize("order", RACES)
@pytest.mark.parametrize("early", [TICK, timedelta()])
async def test_of_a_decision_and_the_expiry_exactly_one_wins(
    order: str, early: timedelta, url: str
) -> None:
    async with replicas(url) as several:
        policy = patient(expires=HOUR, on_expiry="deny")
        one, two = [await several.runtime([send], SENDS, policy=policy) for _ in range(2)]
        state, approval = await asked(one)
        several.clock.advance(HOUR - early)
        answers = await asyncio.gather(*RACES[order](one, two, approval), return_exceptions=True)
        refused = [answer for answer in answers if isinstance(answer, BaseException)]
        several.clock.advance(TICK)
        after = await one.settle(state.run_id)
        assert after.answer == "done"
        (call,) = after.calls.values()
        assert call.result is not None
        # In time it was decided, and nobody let it expire; at the time it was over.
        assert bool(refused) is not bool(early)
        assert all(isinstance(error, ApprovalExpired) for error in refused)
        assert call.result.outcome == ("ok" if early else "expired")
        with pytest.raises(AlreadyDecided if early else ApprovalExpired):
            await two.decide(approval.id, Deny(), OPERATOR)


class TestABudget:
    async def test_that_is_used_up_asks_and_a_yes_lets_the_run_go_on(self, tmp_path: Path) -> None:
        owners = Policy(owners=People(users=("U0BOB",)))
        budget = Budget(model_calls=1)
        async with bench(tmp_path, [send], SENDS, owners, budget=budget) as b:
            state = await b.play()
            after = await b.runtime.decide(state.open_approvals[0].id, Approve(), OPERATOR)
            await b.work()
            state = await b.runtime.state(after.run_id)
            (asked,) = state.open_approvals
            assert (asked.kind, asked.approvers.users) == ("budget", ("U0BOB",))
            await b.runtime.decide(asked.id, Approve(more=Decimal(1)), OPERATOR)
            await b.work()
            assert (await b.runtime.state(after.run_id)).answer == "done"

    async def test_is_not_decided_by_a_message_which_is_heard_once_it_goes_on(
        self, tmp_path: Path
    ) -> None:
        budget = Budget(model_calls=1)
        async with bench(tmp_path, [send], SENDS, budget=budget) as b:
            state = await b.play()
            await b.runtime.decide(state.open_approvals[0].id, Approve(), OPERATOR)
            await b.work()
            said = await b.runtime.steer(state.run_id, "go on, please", BOB)
            await b.work()
            waiting = await b.runtime.state(state.run_id)
            assert waiting.open_approvals == said.open_approvals
            assert waiting.model_calls == 1
            await b.runtime.decide(waiting.open_approvals[0].id, Approve(), OPERATOR)
            await b.work()
            after = await b.runtime.state(state.run_id)
            assert after.answer == "done"
            assert after.replies[-1].heard == (Words(text="go on, please"),)

    async def test_whose_denial_stops_the_run(self, tmp_path: Path) -> None:
        async with bench(tmp_path, [send], SENDS, budget=Budget(model_calls=1)) as b:
            state = await b.play()
            await b.runtime.decide(state.open_approvals[0].id, Deny(), OPERATOR)
            await b.work()
            (asked,) = (await b.runtime.state(state.run_id)).open_approvals
            await b.runtime.decide(asked.id, Deny("enough"), OPERATOR)
            await b.work()
            after = await b.runtime.state(state.run_id)
            assert after.ending == "cancelled"
            assert after.stop is not None
            assert after.stop.reason == "enough"

    async def test_that_stops_does_so_without_asking(self, tmp_path: Path) -> None:
        budget = Budget(model_calls=1, on_reached="stop")
        async with bench(tmp_path, [send], SENDS, budget=budget) as b:
            state = await b.play()
            await b.runtime.decide(state.open_approvals[0].id, Approve(), OPERATOR)
            await b.work()
            after = await b.runtime.state(state.run_id)
            assert (after.ending, after.model_calls) == ("cancelled", 1)

    async def test_of_minutes_counts_no_minute_in_which_people_are_waited_for(
        self, tmp_path: Path
    ) -> None:
        budget = Budget(minutes=Decimal(1))
        async with bench(tmp_path, [send], SENDS, budget=budget) as b:
            state = await b.play()
            b.clock.advance(HOUR)
            await b.runtime.hold(state.run_id, BOB)
            await b.runtime.decide(state.open_approvals[0].id, Approve(), OPERATOR)
            b.clock.advance(HOUR)
            await b.work()
            await b.runtime.resume(state.run_id, BOB)
            assert (await b.runtime.state(state.run_id)).answer == "done"


async def test_the_log_says_of_what_nobody_decided_which_it_was(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "agent.engine.journaling")
    async with replicas(f"sqlite:///{tmp_path / 'store.db'}") as several:
        runtime = await several.runtime([send], SENDS, policy=patient(expires=HOUR))
        state, approval = await asked(runtime)
        several.clock.advance(HOUR)
        await runtime.recover()
        said = [one.getMessage() for one in caplog.records]
        assert said == [f"{state.run_id}: nobody decided {approval.id} in time"]
