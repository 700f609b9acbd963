"""Decisions through the façade: who voted before is looked up again, and a refusal is taken down."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, field, replace

import pytest

from agent import Approve, Deny, Policy, Rule, RuleApprovers, Runtime, Steer, ToolContext, tool
from agent.errors import (
    AlreadyDecided,
    AlreadyVoted,
    InvalidArgs,
    NotAllowed,
    NotFound,
)
from agent.rules.control import DecisionRefused, RecordedControl
from agent.rules.decisions import Decider
from agent.rules.ids import ApprovalId, Principal
from agent.rules.requesters import UNKNOWN, Requester
from agent.rules.state import Approval
from tests.agent.engine.bench import OPERATOR, calls, says
from tests.agent.engine.replicas import Replicas, begin, replicas
from tests.bot.thread.reads import reads_of_threads
from tests.store.database import ask

BOB = Decider(Principal("slack:T1:UBOB"), "UBOB", frozenset({"SMONEY"}))
CAROL = Decider(Principal("slack:T1:UCAROL"), "UCAROL", frozenset({"SMONEY"}))
DAVE = Decider(Principal("slack:T1:UDAVE"), "UDAVE", frozenset({"SMONEY"}))
EVE = Decider(Principal("slack:T1:UEVE"), "UEVE")
TWO_OF_MONEY = Policy(
    rules=(Rule(tool="pay", action="ask", approvers=RuleApprovers(groups=("SMONEY",), count=2)),)
)


@tool(effect="idempotent")
def pay(amount: int, context: ToolContext) -> str:
    """Pay."""
    return f"paid {amount}"


@dataclass
class Known:
    """A directory of those who are there at the moment."""

    people: dict[Principal, Decider]
    asked: list[tuple[Principal, tuple[str, ...]]] = field(default_factory=list)
    meanwhile: Callable[[], Awaitable[object]] | None = None

    async def find(self, principal: Principal, groups: Collection[str]) -> Decider | None:
        self.asked.append((principal, tuple(groups)))
        if self.meanwhile is not None:
            once, self.meanwhile = self.meanwhile, None
            await once()
        return self.people.get(principal)

    async def requester(self, principal: Principal, groups: Collection[str]) -> Requester:
        return UNKNOWN


def know(*people: Decider) -> Known:
    return Known({one.principal: one for one in people})


async def asking(several: Replicas, directory: Known | None = None) -> tuple[Runtime, ApprovalId]:
    """A run that asks two of a group whether it may pay."""
    replies = [calls(("pay", '{"amount": 5}')), says("done")]
    runtime = await several.runtime([pay], replies, policy=TWO_OF_MONEY, directory=directory)
    state = await runtime.settle(await begin(runtime))
    return runtime, state.open_approvals[0].id


async def refusals(runtime: Runtime) -> list[DecisionRefused]:
    recorded: Sequence[RecordedControl] = await runtime.store.control.read()
    return [one.event for one in recorded if isinstance(one.event, DecisionRefused)]


async def now(runtime: Runtime, approval_id: ApprovalId) -> Approval:
    approval, _ = await runtime.approval(approval_id)
    return approval


class TestEarlierVoters:
    async def test_count_while_they_may_still_decide(self, url: str) -> None:
        directory = know(BOB, CAROL)
        async with replicas(url) as several:
            runtime, approval_id = await asking(several, directory)
            await runtime.decide(approval_id, Approve(), BOB)
            assert (await now(runtime, approval_id)).status == "pending"
            assert directory.asked == [], "nobody had voted before"
            state = await runtime.decide(approval_id, Approve(), CAROL, wait=True)
            assert (state.ending, state.approvals[approval_id].status) == ("finished", "approved")
            assert directory.asked == [(BOB.principal, ("SMONEY",))]

    async def test_do_not_count_once_they_have_left(self, url: str) -> None:
        directory = know(BOB, CAROL, DAVE)
        async with replicas(url) as several:
            runtime, approval_id = await asking(several, directory)
            await runtime.decide(approval_id, Approve(), BOB)
            directory.people[BOB.principal] = replace(BOB, groups=frozenset())
            await runtime.decide(approval_id, Approve(), CAROL)
            assert (await now(runtime, approval_id)).status == "pending"
            await runtime.decide(approval_id, Approve(), DAVE)
            assert (await now(runtime, approval_id)).status == "approved"

    async def test_do_not_count_while_nobody_can_look_them_up(self, url: str) -> None:
        """A failed look-up means no; once it works, saying yes again is enough."""
        directory = know(CAROL)
        async with replicas(url) as several:
            runtime, approval_id = await asking(several, directory)
            await runtime.decide(approval_id, Approve(), BOB)
            await runtime.decide(approval_id, Approve(), CAROL)
            assert (await now(runtime, approval_id)).status == "pending"
            directory.people[BOB.principal] = BOB
            await runtime.decide(approval_id, Approve(), CAROL)
            assert (await now(runtime, approval_id)).status == "approved"

    async def test_count_as_they_were_where_nobody_is_looked_up(self, url: str) -> None:
        async with replicas(url) as several:
            runtime, approval_id = await asking(several)
            await runtime.decide(approval_id, Approve(), BOB)
            await runtime.decide(approval_id, Approve(), CAROL)
            assert (await now(runtime, approval_id)).status == "approved"

    @pytest.mark.parametrize(
        "decision", [Deny("no"), Steer(guidance="less")], ids=["deny", "steer"]
    )
    async def test_are_looked_up_for_another_yes_alone(
        self, url: str, decision: Deny | Steer
    ) -> None:
        directory = know(BOB, CAROL)
        async with replicas(url) as several:
            runtime, approval_id = await asking(several, directory)
            await runtime.decide(approval_id, Approve(), BOB)
            await runtime.decide(approval_id, decision, CAROL)
            assert directory.asked == []

    async def test_are_looked_up_once_however_often_others_are_faster(self, url: str) -> None:
        """While Bob is looked up, Dave says yes: then he is looked up too, and Bob is not again."""
        directory = know(BOB, CAROL, DAVE)
        async with replicas(url) as several:
            runtime, approval_id = await asking(several, directory)
            # For this one nobody voted before, so that Dave's yes decides nothing.
            other = await several.runtime([pay], policy=TWO_OF_MONEY, directory=know())
            await runtime.decide(approval_id, Approve(), BOB)
            directory.people[BOB.principal] = replace(BOB, groups=frozenset())
            directory.meanwhile = lambda: other.decide(approval_id, Approve(), DAVE)
            state = await runtime.decide(approval_id, Approve(), CAROL)
            assert state.approvals[approval_id].status == "approved"
            assert [who for who, _ in directory.asked] == [BOB.principal, DAVE.principal]

    async def test_a_denial_while_they_are_looked_up_wins(self, url: str) -> None:
        directory = know(BOB, CAROL)
        async with replicas(url) as several:
            runtime, approval_id = await asking(several, directory)
            other = await several.runtime([pay], policy=TWO_OF_MONEY)
            await runtime.decide(approval_id, Approve(), BOB)
            directory.meanwhile = lambda: other.decide(approval_id, Deny("no"), DAVE)
            with pytest.raises(AlreadyDecided) as late:
                await runtime.decide(approval_id, Approve(), CAROL)
            assert late.value.by == DAVE.principal
            assert [one.code for one in await refusals(runtime)] == ["already_decided"]

    async def test_a_denial_since_the_run_was_read_wins(self, url: str) -> None:
        async with replicas(url) as several:
            runtime, approval_id = await asking(several)
            _, seen = await runtime.approval(approval_id)
            await runtime.decide(approval_id, Deny("no"), DAVE)
            with pytest.raises(AlreadyDecided) as late:
                await runtime.decide(approval_id, Approve(), CAROL, seen=seen)
            assert late.value.by == DAVE.principal


async def test_a_run_that_was_just_read_is_not_read_again_to_decide_it(url: str) -> None:
    async with replicas(url) as several:
        runtime, approval_id = await asking(several)
        _, seen = await runtime.approval(approval_id)
        with reads_of_threads() as reads:
            await runtime.decide(approval_id, Approve(), BOB, seen=seen)
        assert reads == []


class TestRefusals:
    async def test_are_taken_down_once_for_each_person_and_reason(self, url: str) -> None:
        async with replicas(url) as several:
            runtime, approval_id = await asking(several)
            for _ in range(3):
                with pytest.raises(NotAllowed):
                    await runtime.decide(approval_id, Approve(), EVE)
            with pytest.raises(InvalidArgs):
                await runtime.decide(approval_id, Steer(args={"amount": "x"}), BOB)
            await runtime.decide(approval_id, Approve(), BOB)
            with pytest.raises(AlreadyVoted):
                await runtime.decide(approval_id, Approve(), BOB)
            told = [(one.by, one.action, one.code) for one in await refusals(runtime)]
            assert told == [
                (EVE.principal, "approve", "not_allowed"),
                (BOB.principal, "steer", "invalid_args"),
                (BOB.principal, "approve", "already_decided"),
            ]
            run_id = (await runtime.runs())[0].run_id
            assert {one.run_id for one in await refusals(runtime)} == {run_id}

    async def test_name_who_spoke_for_whom(self, url: str) -> None:
        async with replicas(url) as several:
            runtime, approval_id = await asking(several)
            claimed = replace(EVE, claimed_by=OPERATOR.principal)
            with pytest.raises(NotAllowed):
                await runtime.decide(approval_id, Approve(), claimed)
            (refused,) = await refusals(runtime)
            assert (refused.by, refused.claimed_by) == (EVE.principal, OPERATOR.principal)

    async def test_of_something_that_is_not_there_are_not(self, url: str) -> None:
        async with replicas(url) as several:
            runtime, _ = await asking(several)
            with pytest.raises(NotFound):
                await runtime.decide(ApprovalId("apr_0"), Approve(), EVE)
            assert await refusals(runtime) == []

    async def test_what_was_decided_is_not_one(self, url: str) -> None:
        async with replicas(url) as several:
            runtime, approval_id = await asking(several)
            await runtime.decide(approval_id, Deny("no"), BOB)
            assert await refusals(runtime) == []

    async def test_stand_though_they_can_not_be_taken_down(
        self, url: str, caplog: pytest.LogCaptureFixture
    ) -> None:
        async with replicas(url) as several:
            runtime, approval_id = await asking(several)
            ask(several.url, "DROP TABLE control_journal")
            with pytest.raises(NotAllowed):
                await runtime.decide(approval_id, Approve(), EVE)
            assert "can't be recorded: The database" in caplog.text

    async def test_have_words_of_a_bounded_length(self, url: str) -> None:
        async with replicas(url) as several:
            runtime, approval_id = await asking(several)
            run_id = (await runtime.runs())[0].run_id
            refused = NotAllowed(approval_id, None, "no " * 5_000)
            await runtime.record_refusal(run_id, Approve(), EVE, refused)
            (one,) = await refusals(runtime)
            assert len(one.message) == 1_000
