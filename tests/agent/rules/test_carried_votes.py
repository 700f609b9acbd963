"""The yes of whoever steered a call, carried to the question that is asked of it later."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from pydantic import JsonValue

from agent.errors import AlreadyVoted
from agent.rules.decisions import Approve, Decider, Steer
from agent.rules.events import ApprovalDecided, ApprovalRequested, ApprovalVoted
from agent.rules.parts import Approvers
from agent.rules.steering import CARRIED_PREVIEW, carried_vote
from agent.rules.steps import StartCalls, next_step
from tests.agent.rules.deciding import A2, decided, take
from tests.agent.rules.histories import (
    AS_ALICE,
    AS_BOB,
    AS_OPERATOR,
    BOB,
    FINANCE,
    REFUND,
    SECOND,
    TWO_OF_FINANCE,
    History,
    approved,
    asked,
    begun,
    call_started,
    judged,
    left_unknown,
    previewed,
    replied,
    waiting,
)
from tests.agent.rules.judges import RefundJudge

#: Who may steer in these tests.
SOMEBODY = Approvers(users=("U0ALICE", "U0BOB"), requester=True)


def steered_and_asked(
    approvers: Approvers = FINANCE,
    by: Decider = AS_BOB,
    *,
    said: str | None = "to card 42",
    error: str | None = None,
    **judged_as: Any,
) -> tuple[History, ApprovalRequested]:
    """Steered to $150; and the question about it, not yet asked."""
    judge = RefundJudge(approvers=approvers, can_preview=True, **judged_as)
    history = waiting(SOMEBODY)
    history = history.then(*take(history, Steer({"amount": 150}), by, judge=judge))
    history = history.then(previewed(1, said, error))
    return history, question(approvers)


def question(approvers: Approvers, amount: float = 150) -> ApprovalRequested:
    args: dict[str, JsonValue] = {**REFUND, "amount": amount}
    return asked(1, approval=2, args=args, preview="to card 42", approvers=approvers, supersedes=1)


def carry(
    history: History, asked: ApprovalRequested, after: timedelta = SECOND
) -> ApprovalVoted | ApprovalDecided | None:
    (call,) = history.state.open_calls
    return carried_vote(history.state, call, asked, history.now + after)


def test_the_steerers_yes_decides_where_it_is_enough() -> None:
    history, again = steered_and_asked()
    carried = carry(history, again)
    assert carried == decided(A2, action="approve")
    history = history.then(again, carried)
    (call,) = history.state.open_calls
    assert next_step(history.state, history.now) == StartCalls((call.id,))
    assert history.state.approvals[A2].requested.preview == "to card 42"


@pytest.mark.parametrize(
    "approvers",
    [TWO_OF_FINANCE, Approvers(one_from_each=("S0FINANCE", "S0LEGAL"))],
)
def test_the_steerers_yes_is_a_vote_where_more_are_needed(approvers: Approvers) -> None:
    history, again = steered_and_asked(approvers)
    carried = carry(history, again)
    assert carried == ApprovalVoted(approval_id=A2, by=BOB, user="U0BOB", groups=("S0FINANCE",))
    with pytest.raises(AlreadyVoted):
        take(history.then(again, carried), Approve(), approval=A2)


def test_an_operators_steer_decides() -> None:
    history, again = steered_and_asked(TWO_OF_FINANCE, AS_OPERATOR)
    carried = carry(history, again)
    assert isinstance(carried, ApprovalDecided)
    assert (carried.by, carried.authority) == (AS_OPERATOR.principal, "operator")


def test_a_group_that_only_the_new_question_asks_is_recorded_with_the_steer() -> None:
    board = Approvers(groups=("S0BOARD",))
    both = replace(AS_BOB, groups=frozenset({"S0FINANCE", "S0BOARD", "S0OTHER"}))
    history, again = steered_and_asked(board, both)
    carried = carry(history, again)
    assert isinstance(carried, ApprovalDecided)
    assert carried.groups == ("S0BOARD",)


def test_whoever_may_not_decide_the_new_question_has_no_vote_there() -> None:
    assert carry(*steered_and_asked(Approvers(groups=("S0BOARD",)))) is None
    assert carry(*steered_and_asked(FINANCE, replace(AS_ALICE, groups=AS_BOB.groups))) is None


def test_what_would_have_to_be_read_first_is_asked_as_any_other() -> None:
    history, again = steered_and_asked()
    for length, is_carried in ((CARRIED_PREVIEW, True), (CARRIED_PREVIEW + 1, False)):
        said = again.model_copy(update={"preview": "x" * length})
        assert (carry(history, said) is not None) == is_carried


@pytest.mark.parametrize("error", ["longer than 100,000 characters", None])
def test_what_the_tool_could_not_say_is_asked_as_any_other(error: str | None) -> None:
    history, again = steered_and_asked(said=None, error=error)
    assert carry(history, again.model_copy(update={"preview": None})) is None


def test_what_was_changed_since_carries_no_vote() -> None:
    history, _ = steered_and_asked()
    assert carry(history, question(FINANCE, 140)) is None
    assert carry(history, question(FINANCE, 150.0)) is not None


def test_what_was_asked_since_carries_no_vote() -> None:
    history, again = steered_and_asked()
    assert carry(history.then(again), question(FINANCE)) is None


def test_what_was_judged_again_since_carries_no_vote() -> None:
    """Steered to what was allowed then: that the policy asks now is news to the steerer too."""
    history = waiting()
    history = history.then(*take(history, Steer({"amount": 90})))
    smaller = {**REFUND, "amount": 90}
    history = history.then(judged(1, "ask", args=smaller, again_because="the policy now asks"))
    assert carry(history, question(FINANCE, 90)) is None


def test_a_steer_is_no_word_on_what_became_of_an_effect() -> None:
    """Steered to what was allowed; and then nobody knows whether it happened."""
    history = waiting()
    judge = RefundJudge(effect="once")
    history = history.then(*take(history, Steer({"amount": 90}), judge=judge))
    history = history.then(call_started(1, history.now)).then(left_unknown(1))
    smaller = {**REFUND, "amount": 90}
    assert carry(history, asked(1, approval=2, kind="review", args=smaller, supersedes=1)) is None


def test_what_was_guided_or_approved_carries_no_vote() -> None:
    assert carry(waiting().then(approved(1)), question(FINANCE, 180)) is None
    history = begun().then(replied(1)).then(judged(1, "ask"))
    assert carry(history, asked(1)) is None


def test_a_steer_that_is_older_than_a_yes_is_good_for_is_no_vote() -> None:
    hour = timedelta(hours=1)
    history, again = steered_and_asked(valid_for=hour)
    # The preview came a second after the steer.
    assert carry(history, again, after=hour - SECOND) is not None
    assert carry(history, again, after=hour) is None
