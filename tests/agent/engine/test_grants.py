"""Standing consent: given with a yes, for what it says and no more, and taken back."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import timedelta

import pytest

from agent import Approve, Decider, Deny, GrantWish, Policy, Principal, Rule, Runtime, tool
from agent.errors import AlreadyRevoked, InvalidArgs, NotFound
from agent.ports import ModelReply
from agent.rules.control import GrantGiven, GrantRevoked
from agent.rules.events import ApprovalDecided, CallStarted
from agent.rules.ids import GrantId, RunId, SessionId
from agent.rules.rule import People, RuleApprovers
from agent.rules.rule_grants import RuleGrants
from agent.rules.state import RunState
from tests.agent.engine.bench import ALICE, calls, says
from tests.agent.engine.replicas import Replicas, replicas

BOB = Decider(Principal("slack:T0PILOT:U0BOB"), user="U0BOB")
CAROL = Decider(Principal("slack:T0PILOT:U0CAROL"), user="U0CAROL")
HOUR = timedelta(hours=1)


@tool(approval=True)
def pay(amount: int) -> str:
    """Pay."""
    return f"paid {amount}"


def policy(grants: RuleGrants | None, **approvers: object) -> Policy:
    asked = RuleApprovers.model_validate({"users": ("U0BOB",), **approvers})
    rule = Rule(tool="pay", action="ask", approvers=asked, grants=grants)
    return Policy(owners=People(users=("U0BOB",)), rules=(rule,))


BOTH = RuleGrants(scopes=("run", "thread"), longest=8 * HOUR)


def paying(*amounts: int) -> list[ModelReply]:
    return [*(calls(("pay", f'{{"amount": {amount}}}')) for amount in amounts), says("done")]


@pytest.fixture
async def several(url: str) -> AsyncIterator[Replicas]:
    async with replicas(url) as made:
        yield made


async def begin(runtime: Runtime, session: str = "ses_1") -> RunState:
    run_id = await runtime.start("pay", requester=ALICE, session=SessionId(session))
    return await runtime.settle(run_id)


async def grant(
    runtime: Runtime, state: RunState, wish: GrantWish, decider: Decider = BOB
) -> RunState:
    approval = state.open_approvals[0]
    return await runtime.decide(approval.id, Approve(grant=wish), decider, wait=True)


async def starts(runtime: Runtime, run_id: RunId) -> list[str | None]:
    """The grants under which the run's calls began."""
    events = [one.event for one in await runtime.store.journal.read(run_id)]
    return [one.grant for one in events if isinstance(one, CallStarted)]


class TestAGrantForARun:
    async def test_lets_the_same_call_begin_again_and_is_named_there(
        self, several: Replicas
    ) -> None:
        runtime = await several.runtime([pay], paying(5, 5, 5), policy=policy(BOTH))
        state = await grant(runtime, await begin(runtime), GrantWish("run"))
        assert (state.ending, len(state.approvals)) == ("finished", 1)
        assert await runtime.grants() == [], "its run is over"
        (given,) = await runtime.store.control.grants()
        assert await starts(runtime, state.run_id) == [None, given.id, given.id]
        assert given.given.where == {"amount": 5}
        events = [one.event for one in await runtime.store.journal.read(state.run_id)]
        (decided,) = [one for one in events if isinstance(one, ApprovalDecided)]
        assert decided.grant == given.id

    async def test_covers_no_other_arguments(self, several: Replicas) -> None:
        runtime = await several.runtime([pay], paying(5, 6), policy=policy(BOTH))
        state = await grant(runtime, await begin(runtime), GrantWish("run"))
        assert [a.requested.args for a in state.open_approvals] == [{"amount": 6}]

    async def test_covers_all_of_them_if_that_was_said(self, several: Replicas) -> None:
        runtime = await several.runtime([pay], paying(5, 6), policy=policy(BOTH))
        wish = GrantWish("run", any_arguments=True)
        state = await grant(runtime, await begin(runtime), wish)
        assert (state.ending, len(state.approvals)) == ("finished", 1)

    async def test_covers_no_other_run(self, several: Replicas) -> None:
        runtime = await several.runtime([pay], [*paying(5), *paying(5)], policy=policy(BOTH))
        await grant(runtime, await begin(runtime), GrantWish("run"))
        assert len((await begin(runtime)).open_approvals) == 1


class TestAGrantForAThread:
    async def test_covers_the_next_run_of_the_session_and_no_other_session(
        self, several: Replicas
    ) -> None:
        replies = [*paying(5), *paying(5), *paying(5)]
        runtime = await several.runtime([pay], replies, policy=policy(BOTH))
        await grant(runtime, await begin(runtime), GrantWish("thread"))
        assert (await begin(runtime)).ending == "finished"
        assert len((await begin(runtime, "ses_2")).open_approvals) == 1

    async def test_ends_at_its_time(self, several: Replicas) -> None:
        replies = [*paying(5), *paying(5)]
        runtime = await several.runtime([pay], replies, policy=policy(BOTH))
        await grant(runtime, await begin(runtime), GrantWish("thread", lasts=HOUR))
        several.clock.advance(HOUR)
        assert len((await begin(runtime)).open_approvals) == 1
        assert await runtime.grants() == []

    async def test_lasts_no_longer_than_its_rule_allows(self, several: Replicas) -> None:
        runtime = await several.runtime([pay], paying(5), policy=policy(BOTH))
        before = several.clock.now()
        await grant(runtime, await begin(runtime), GrantWish("thread"))
        (given,) = await runtime.grants()
        assert given.given.expires_at is not None
        assert before + 8 * HOUR <= given.given.expires_at <= several.clock.now() + 8 * HOUR

    async def test_is_over_once_it_is_revoked(self, several: Replicas) -> None:
        replies = [*paying(5), *paying(5)]
        runtime = await several.runtime([pay], replies, policy=policy(BOTH))
        await grant(runtime, await begin(runtime), GrantWish("thread"))
        (given,) = await runtime.grants()
        await runtime.revoke(given.id, CAROL.principal, "enough")
        assert len((await begin(runtime)).open_approvals) == 1
        facts = [one.event for one in await runtime.store.control.read()]
        assert [one.grant_id for one in facts if isinstance(one, GrantGiven)] == [given.id]
        (revoked,) = [one for one in facts if isinstance(one, GrantRevoked)]
        assert (revoked.by, revoked.reason) == (CAROL.principal, "enough")
        with pytest.raises(AlreadyRevoked, match="U0CAROL revoked grt_"):
            await runtime.revoke(given.id, CAROL.principal)
        with pytest.raises(NotFound):
            await runtime.revoke(GrantId("grt_none"), CAROL.principal)

    async def test_is_beaten_by_a_no_to_exactly_this(self, several: Replicas) -> None:
        runtime = await several.runtime([pay], paying(6, 5, 7, 6), policy=policy(BOTH))
        state = await begin(runtime)
        state = await runtime.decide(state.open_approvals[0].id, Deny("no"), BOB, wait=True)
        state = await grant(runtime, state, GrantWish("thread", any_arguments=True))
        assert [a.requested.args for a in state.open_approvals] == [{"amount": 6}]
        (given,) = await runtime.grants()
        assert await starts(runtime, state.run_id) == [None, given.id], "seven was covered"


class TestARuleThatHasGrownStricter:
    @pytest.mark.parametrize(
        "today",
        [
            policy(None),
            policy(RuleGrants(scopes=("run",))),
            policy(RuleGrants(scopes=("thread",), longest=timedelta(seconds=1))),
            policy(BOTH, users=("U0CAROL",)),
        ],
        ids=["no grants", "none for a thread", "shorter ones", "others decide"],
    )
    async def test_is_asked(self, today: Policy, several: Replicas) -> None:
        before = await several.runtime([pay], paying(5), policy=policy(BOTH))
        await grant(before, await begin(before), GrantWish("thread"))
        several.clock.advance(timedelta(minutes=1))
        after = await several.runtime([pay], paying(5), policy=today)
        assert len((await begin(after)).open_approvals) == 1


class TestAWish:
    @pytest.mark.parametrize(
        ("rule", "wish", "why"),
        [
            (policy(None), GrantWish("run"), "allows no grant"),
            (policy(RuleGrants(scopes=("run",))), GrantWish("thread"), "only for its run"),
            (policy(BOTH), GrantWish("run", lasts=9 * HOUR), "8 h at most"),
            (policy(RuleGrants(scopes=("run",))), GrantWish("run", lasts=9 * HOUR), "8 h at most"),
            (policy(BOTH), GrantWish("run", lasts=timedelta()), "more than no time"),
            (policy(BOTH), GrantWish("run", lasts=timedelta.min), "more than no time"),
            (policy(BOTH), GrantWish("run", lasts=timedelta.max), "at most 3650 d"),
            (policy(BOTH), GrantWish("run", lasts="1h"), "as a length of time"),  # type: ignore[arg-type]
            (policy(BOTH), GrantWish("agent"), "in its run, or thread"),  # type: ignore[arg-type]
            (policy(BOTH), GrantWish(["run"]), "in its run, or thread"),  # type: ignore[arg-type]
            (policy(BOTH), GrantWish("run", None, "no"), "yes or no"),  # type: ignore[arg-type]
            (policy(BOTH), "run", "in its run, or thread"),
        ],
    )
    async def test_that_can_not_be_is_refused_and_nothing_is_decided(
        self, rule: Policy, wish: GrantWish, why: str, several: Replicas
    ) -> None:
        runtime = await several.runtime([pay], paying(5), policy=rule)
        state = await begin(runtime)
        with pytest.raises(InvalidArgs, match=why):
            await grant(runtime, state, wish)
        after = await runtime.state(state.run_id)
        assert len(after.open_approvals) == 1
        assert await runtime.grants() == []

    async def test_of_whose_yes_alone_is_not_enough_is_refused(self, several: Replicas) -> None:
        # As the rule was when it asked: two had to say yes.
        rule = policy(None, users=("U0BOB", "U0CAROL"), count=2)
        (only,) = rule.rules
        loose = only.model_copy(update={"grants": BOTH})
        runtime = await several.runtime(
            [pay], paying(5), policy=rule.model_copy(update={"rules": (loose,)})
        )
        state = await begin(runtime)
        with pytest.raises(InvalidArgs, match="more than your yes"):
            await grant(runtime, state, GrantWish("run"))

    async def test_is_taken_down_with_the_decision_or_not_at_all(self, several: Replicas) -> None:
        runtime = await several.runtime([pay], paying(5), policy=policy(BOTH))
        state = await begin(runtime)
        approval = state.open_approvals[0]
        await runtime.decide(approval.id, Deny("no"), BOB)
        with pytest.raises(Exception, match="Too late"):
            await runtime.decide(approval.id, Approve(grant=GrantWish("run")), BOB)
        assert await runtime.grants() == []


async def test_a_grant_that_nobody_knows_can_not_be_revoked(several: Replicas) -> None:
    runtime = await several.runtime([pay], paying(5), policy=policy(BOTH))
    with pytest.raises(NotFound):
        await runtime.revoke(GrantId("grt_none"), BOB.principal)


class TestAGrantThatEndsBeforeWhatRestsOnItIsWritten:
    """The grants are read, then a plan is made, then it is committed."""

    async def test_revoked_meanwhile_it_lets_nothing_begin(
        self, several: Replicas, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        runtime = await several.runtime([pay], [*paying(5), *paying(5)], policy=policy(BOTH))
        other = await several.runtime([pay], policy=policy(BOTH))
        await grant(runtime, await begin(runtime), GrantWish("thread"))
        (given,) = await runtime.grants()
        after_the_look(monkeypatch, runtime, lambda: other.revoke(given.id, CAROL))
        state = await begin(runtime)
        assert (len(state.open_approvals), await starts(runtime, state.run_id)) == (1, [])


def after_the_look(
    monkeypatch: pytest.MonkeyPatch, runtime: Runtime, do: Callable[[], Awaitable[object]]
) -> None:
    """When this runtime next finds a grant in force, ``do`` comes before anything else."""
    control = runtime.store.control
    look = control.grants_in_force

    async def then(agent: str, run_id: RunId, session: SessionId) -> object:
        found = await look(agent, run_id, session)
        if found:
            monkeypatch.setattr(control, "grants_in_force", look)
            await do()
        return found

    monkeypatch.setattr(control, "grants_in_force", then)
