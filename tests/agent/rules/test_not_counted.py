"""Yeses of those who may decide no more: recorded as such, and never counted later."""

from __future__ import annotations

import pytest

from agent.rules.consent import why_again
from agent.rules.decisions import Approve, Decider
from agent.rules.events import ApprovalDecided, ApprovalVoted
from agent.rules.ids import Principal
from tests.agent.rules.deciding import A1, take
from tests.agent.rules.histories import (
    AS_BOB,
    AS_FRANK,
    BOB,
    REFUND,
    TWO_OF_FINANCE,
    History,
    voted,
    waiting,
)
from tests.agent.rules.judges import RefundJudge

OUTSIDE = Decider(BOB, user="U0BOB")
AS_GRACE = Decider(
    Principal("slack:T0PILOT:U0GRACE"), user="U0GRACE", groups=frozenset({"S0FINANCE"})
)
THREE = TWO_OF_FINANCE.model_copy(update={"count": 3})


def bobs_yes() -> History:
    return waiting(TWO_OF_FINANCE).then(voted(1, BOB, user="U0BOB", groups=("S0FINANCE",)))


@pytest.mark.parametrize("today", [None, OUTSIDE])
def test_a_vote_says_whose_earlier_yes_was_not_counted(today: Decider | None) -> None:
    (event,) = take(bobs_yes(), Approve(), AS_FRANK, voters={BOB: today})
    assert isinstance(event, ApprovalVoted)
    assert event.not_counted == (BOB,)


@pytest.mark.parametrize("voters", [None, {BOB: AS_BOB}])
def test_where_all_are_counted_nobody_is_named(voters: dict[Principal, Decider | None]) -> None:
    (event,) = take(bobs_yes(), Approve(), AS_FRANK, voters=voters)
    assert isinstance(event, ApprovalDecided)
    assert event.not_counted == ()


def test_a_yes_that_was_not_counted_does_not_satisfy_a_stricter_rule_later() -> None:
    history = bobs_yes()
    history = history.then(*take(history, Approve(), AS_FRANK, voters={BOB: None}))
    voters = {BOB: None, AS_FRANK.principal: AS_FRANK}
    history = history.then(*take(history, Approve(), AS_GRACE, voters=voters))
    approval = history.state.approvals[A1]
    assert approval.status == "approved"
    assert [word.by for word, _ in approval.yeses] == [AS_FRANK.principal, AS_GRACE.principal]
    (call,) = history.state.calls.values()
    for approvers, is_covered in ((TWO_OF_FINANCE, True), (THREE, False)):
        today = RefundJudge(approvers=approvers)("process_refund", REFUND)
        assert (why_again(history.state, call, today, history.now) is None) == is_covered
