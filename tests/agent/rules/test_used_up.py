"""What is asked once a budget is used up, and what people allow or end with their word."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

import pytest

from agent.errors import AlreadyDecided, InvalidArgs, NotAllowed
from agent.rules.budgets import Budget, Reached, ask_for_more
from agent.rules.decisions import Answer, Approve, Decider, Decision, Deny, Settle, Steer
from agent.rules.events import RunFailed
from agent.rules.ids import ApprovalId, GroupId, Principal
from agent.rules.interventions import BudgetReached, StopRequested
from agent.rules.parts import Approvers, Patience
from agent.rules.people import ask_again
from agent.rules.silence import mark
from agent.rules.steps import AskForMore, AskModel, Finish, MarkTime, Suspend, next_step
from tests.agent.rules.deciding import A1, take
from tests.agent.rules.happenings import (
    HOUR,
    ONE,
    OWNERS,
    asked_again,
    expired,
    fruitless,
    more_wanted,
    out_of_calls,
    question_of,
    said,
    spent,
)
from tests.agent.rules.histories import (
    AS_ALICE,
    AS_BOB,
    AS_CAROL,
    AS_OPERATOR,
    approved,
    asked,
    begun,
    judged,
    reopened,
    replied,
    returned,
    started,
)

TWO = Budget(model_calls=2)


def test_an_owner_who_asked_for_the_run_may_let_it_go_on() -> None:
    history = spent(1)
    reached = Reached("model_calls", ONE, ONE)
    alices = Approvers(users=("U0ALICE",))
    events = ask_for_more(history.state, reached, Budget(model_calls=1), alices, A1, history.now)
    history = history.then(*events)
    history = history.then(*take(history, Approve(), AS_ALICE))
    assert history.state.approvals[A1].status == "approved"


def test_the_owners_are_asked_whether_it_may_go_on() -> None:
    (event,) = more_wanted(spent(2), TWO)
    question = question_of(event)
    assert (question.approval_kind, question.call_id) == ("budget", None)
    assert question.approvers == OWNERS.model_copy(update={"requester": True})
    assert question.args == {"budget": "model_calls", "used": "2", "limit": "2", "more": "1"}
    assert question.reason == "This run has used its budget: 2 of 2 model calls."
    assert question.rule == "the agent's budget: model_calls 2"
    assert (question.title, question.tool, question.policy_version) == ("Go on?", "", "")
    assert question.group == GroupId("grp_apr_1")
    assert question.supersedes is None
    assert question.hash != question_of(more_wanted(spent(3), TWO)[0]).hash


def test_a_budget_that_stops_says_what_was_used() -> None:
    assert more_wanted(spent(2), Budget(model_calls=2, on_reached="stop")) == (
        BudgetReached(budget="model_calls", used="2", limit="2"),
        StopRequested(
            by=Principal("policy:budget"),
            reason="This run has used its budget: 2 of 2 model calls.",
        ),
    )


def test_the_model_is_not_asked_until_somebody_has_decided() -> None:
    history = spent(2)
    wanted = AskForMore(Reached("model_calls", Decimal(2), Decimal(2)))
    assert next_step(history.state, history.now, budget=TWO) == wanted
    assert next_step(history.state, history.now, budget=None) == AskModel()
    history = history.then(*more_wanted(history, TWO))
    waits = Suspend("approvals", until=history.now + timedelta(days=7))
    assert next_step(history.state, history.now, budget=TWO) == waits
    # Also by a build that knows of no budget any more.
    assert next_step(history.state, history.now) == waits


def test_a_budget_that_nobody_decides_expires_and_waits_until_it_is_asked_again() -> None:
    history, budget = out_of_calls(), Budget(model_calls=1)
    (asked,) = history.state.open_approvals
    assert asked.requested.expires_at is not None
    late = asked.requested.expires_at
    step = next_step(history.state, late, budget=budget)
    assert isinstance(step, MarkTime)
    history = history.then(*mark(history.state, step.due))
    assert history.state.approvals[asked.id].status == "expired"
    assert next_step(history.state, late, budget=budget) == Suspend("approvals")
    history = history.then(*ask_again(history.state, asked.id, Decider(history.state.requester)))
    assert isinstance(next_step(history.state, late, budget=budget), AskForMore)
    assert question_of(more_wanted(history, budget, approval=2)[0]).supersedes == asked.id


def test_a_budget_never_keeps_a_last_word_back() -> None:
    history = spent(1).then(replied(text="Done.", asked_at=3))
    assert next_step(history.state, history.now, budget=TWO) == Finish("Done.")


def test_a_budget_never_keeps_a_call_from_being_carried_out() -> None:
    history = started()
    assert next_step(history.state, history.now, budget=Budget(model_calls=1)) == Suspend(
        "retry", until=history.now + timedelta(seconds=65)
    )
    history = history.then(returned(1))
    step = next_step(history.state, history.now, budget=Budget(model_calls=1))
    assert isinstance(step, AskForMore)


def test_a_yes_allows_as_much_as_was_asked_for() -> None:
    history = out_of_calls(2)
    history = history.then(*take(history, Approve(), AS_CAROL))
    assert history.state.allowances == {"model_calls": Decimal(1)}
    assert next_step(history.state, history.now, budget=TWO) == AskModel()
    history = history.then(*fruitless(history, 3))
    assert next_step(history.state, history.now, budget=TWO) == AskForMore(
        Reached("model_calls", Decimal(3), Decimal(3))
    )


def test_a_yes_may_say_how_much_more_and_yeses_add_up() -> None:
    history = out_of_calls(2)
    history = history.then(*take(history, Approve("fine", more=Decimal(2)), AS_CAROL))
    history = history.then(*fruitless(history, 3))
    history = history.then(*fruitless(history, 4))
    history = history.then(*more_wanted(history, TWO, approval=2))
    history = history.then(*take(history, Approve(), AS_CAROL, ApprovalId("apr_2")))
    assert history.state.allowances == {"model_calls": Decimal(3)}
    decided = history.state.approvals[A1].decided
    assert decided is not None
    assert (decided.note, decided.args, decided.user) == ("fine", {"more": "2"}, "U0CAROL")


def test_a_no_stops_the_run() -> None:
    history = out_of_calls()
    events = take(history, Deny(" enough "), AS_CAROL)
    assert [event.kind for event in events] == ["approval_decided", "stop_requested"]
    assert events[1] == StopRequested(by=AS_CAROL.principal, reason="enough")
    state = history.then(*events).state
    assert state.approvals[A1].status == "denied"
    assert state.allowances == {}


def test_only_the_owners_decide_it_and_only_once() -> None:
    history = out_of_calls()
    for stranger in (AS_BOB, AS_ALICE):
        with pytest.raises(NotAllowed):
            take(history, Approve(), stranger)
    history = history.then(*take(history, Approve(), AS_OPERATOR))
    with pytest.raises(AlreadyDecided):
        take(history, Approve(), AS_CAROL)


@pytest.mark.parametrize("decision", [Steer({"more": 3}), Settle("check"), Answer("yes")])
def test_a_budget_is_approved_or_denied_and_nothing_else(decision: Decision) -> None:
    with pytest.raises(InvalidArgs) as refused:
        take(out_of_calls(), decision, AS_CAROL)
    assert refused.value.errors == {
        "action": "This is a budget that is used up: approve it, or deny it and the run is stopped."
    }


def test_more_is_a_word_on_budgets_alone() -> None:
    history = begun().then(replied(1)).then(judged(1, "ask")).then(asked(1))
    with pytest.raises(InvalidArgs) as refused:
        take(history, Approve(more=ONE), AS_BOB)
    assert refused.value.errors == {"more": "Only a budget is given more."}


def test_what_nobody_decided_waits_until_it_is_asked_again_and_then_supersedes() -> None:
    history = out_of_calls(2).then(expired(1))
    assert next_step(history.state, history.now, budget=TWO) == Suspend("approvals")
    history = history.then(asked_again(1))
    assert isinstance(next_step(history.state, history.now, budget=TWO), AskForMore)
    history = history.then(*more_wanted(history, TWO, approval=2))
    asked_first, asked_then = history.state.approvals.values()
    assert (asked_first.status, asked_first.superseded_by) == ("expired", asked_then.id)
    assert asked_then.requested.supersedes == asked_first.id


def test_a_question_that_closed_with_the_run_does_not_keep_it_once_it_is_taken_on_again() -> None:
    history = out_of_calls(2).then(RunFailed(error="given up")).then(reopened())
    assert isinstance(next_step(history.state, history.now, budget=TWO), AskForMore)
    assert question_of(more_wanted(history, TWO, approval=2)[0]).supersedes is None


def test_a_message_does_not_decide_a_budget() -> None:
    history = out_of_calls().then(said("go on"))
    step = next_step(history.state, history.now, budget=TWO)
    assert isinstance(step, Suspend)
    assert step.waiting_for == "approvals"


def test_a_budget_is_about_no_call() -> None:
    question = question_of(more_wanted(spent(2), TWO)[0])
    with pytest.raises(LookupError, match="apr_1 is about no call"):
        _ = question.of_call
    assert out_of_calls().then(approved(1)).state.budget_id == A1


def test_a_budget_that_reminds_wakes_for_it() -> None:
    (event,) = more_wanted(spent(2), TWO)
    reminds = question_of(event).model_copy(update={"patience": Patience(remind=HOUR)})
    history = spent(2).then(reminds)
    assert next_step(history.state, history.now) == Suspend("approvals", until=history.now + HOUR)
