"""A decider in code answers before people are asked, or passes."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent import Approve, Decider, Deny, Policy, Principal, Steer, tool
from agent.rules.decisions import Decision, Settle
from agent.rules.state import Approval
from tests.agent.engine.bench import OPERATOR, bench, calls, says

PROPOSED = calls(("pay", '{"amount": 50}'))


class Till:
    """What was really paid."""

    def __init__(self) -> None:
        self.paid: list[int] = []


@pytest.mark.parametrize(
    ("word", "paid", "status"),
    [
        (Approve("small enough"), [50], "approved"),
        (Deny("not on a Sunday"), [], "denied"),
        (Steer(guidance="pay by invoice"), [], "steered"),
    ],
)
async def test_its_word_is_a_decision_like_any_other(
    word: Decision, paid: list[int], status: str, tmp_path: Path
) -> None:
    till = Till()

    @tool(approval=True)
    def pay(amount: int) -> None:
        """Pay."""
        till.paid.append(amount)

    async def accountant(approval: Approval) -> Decision | None:
        assert approval.requested.args == {"amount": 50}
        return word

    async with bench(tmp_path, [pay], [PROPOSED, says("ok")], decider=accountant) as b:
        state = await b.play()
        assert (state.answer, till.paid) == ("ok", paid)
        [approval] = state.approvals.values()
        assert approval.status == status
        assert approval.decided is not None
        assert (approval.decided.by, approval.decided.authority) == ("code:accountant", "code")


async def test_a_call_that_it_steers_runs_with_what_it_said(tmp_path: Path) -> None:
    till = Till()

    @tool(approval=True)
    def pay(amount: int) -> None:
        """Pay."""
        till.paid.append(amount)

    async def accountant(approval: Approval) -> Decision | None:
        return Steer({"amount": 20})

    async with bench(tmp_path, [pay], [PROPOSED, says("ok")], decider=accountant) as b:
        await b.play()
        assert till.paid == [20]


@pytest.mark.parametrize("how", ["passes", "raises", "does not fit"])
async def test_people_are_asked_when_it_passes_or_can_not_be_taken_at_its_word(
    how: str, tmp_path: Path
) -> None:
    till = Till()
    asked = 0

    @tool(approval=True)
    def pay(amount: int) -> None:
        """Pay."""
        till.paid.append(amount)

    async def accountant(approval: Approval) -> Decision | None:
        nonlocal asked
        asked += 1
        if how == "raises":
            raise LookupError("no ledger")
        return Settle("happened") if how == "does not fit" else None

    async with bench(tmp_path, [pay], [PROPOSED, says("ok")], decider=accountant) as b:
        await b.start()
        await b.work()
        assert (till.paid, asked) == ([], 1)
        [(approval, _)] = await b.runtime.approvals()
        await b.runtime.decide(approval.id, Approve(), OPERATOR)
        await b.work()
        assert (till.paid, asked) == ([50], 1)


async def test_a_preview_that_keeps_changing_is_refused_and_not_decided_for_ever(
    tmp_path: Path,
) -> None:
    previews: list[int] = []

    def preview() -> str:
        previews.append(1)
        return f"the {len(previews)}th"

    @tool(approval=True, preview=preview, preview_must_match=True)
    def sell() -> None:
        """Sell."""

    async def accountant(approval: Approval) -> Decision | None:
        return Approve()

    script = [calls(("sell", "{}")), says("ok")]
    async with bench(tmp_path, [sell], script, decider=accountant) as b:
        state = await b.play()
        [call] = state.calls.values()
        assert call.result is not None
        assert (call.result.outcome, state.answer) == ("refused", "ok")
        asked = [approval.requested.preview for approval in state.approvals.values()]
        assert len(asked) == len(set(asked)) == 4, "it was asked anew about each"


async def test_its_no_ends_what_a_steerer_s_yes_alone_does_not_decide(tmp_path: Path) -> None:
    till = Till()

    @tool(approval=True)
    def pay(amount: int) -> None:
        """Pay."""
        till.paid.append(amount)

    async def accountant(approval: Approval) -> Decision | None:
        return Deny("never 7") if approval.requested.args["amount"] == 7 else None

    two = Policy.model_validate(
        {
            "rules": [
                {
                    "tool": "pay",
                    "action": "ask",
                    "approvers": {"users": ["U0BOB", "U0CAROL"], "count": 2},
                }
            ]
        }
    )
    bob = Decider(Principal("slack:T:U0BOB"), "U0BOB")
    async with bench(tmp_path, [pay], [PROPOSED, says("ok")], two, decider=accountant) as b:
        run_id = await b.start()
        await b.work()
        [(approval, _)] = await b.runtime.approvals()
        await b.runtime.decide(approval.id, Steer({"amount": 7}), bob)
        await b.work()
        state = await b.runtime.state(run_id)
        assert (till.paid, state.answer) == ([], "ok")
