"""What should have been asked instead of what a journal says: in words."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from agent.rules.budgets import Budget, Reached, ask_for_more, ask_for_so_much
from agent.rules.ids import ApprovalId
from agent.rules.interventions import BudgetReached
from agent.rules.parts import Approvers, BudgetName, Patience
from agent.rules.replaying.questions import why_not_asked, why_not_reached
from tests.agent.rules.deciding import A1, A2
from tests.agent.rules.happenings import OWNERS, question_of, spent
from tests.agent.rules.histories import BEGAN, History, asked, begun, judged, replied, waiting


def to_be_asked() -> History:
    return begun().then(replied(1)).then(judged(1, "ask"))


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({}, None),
        ({"tool": "send"}, "a question about process_refund"),
        ({"supersedes": ApprovalId("apr_0")}, "a question in place of None"),
        ({"approval_kind": "question"}, "a question of its kind"),
        ({"args": {"amount": 1}}, "a question about what the call would do"),
        ({"approvers": Approvers()}, "a question to those whom its verdict names"),
        ({"policy_version": "policy-9"}, "a question with another policy version"),
        ({"patience": Patience(on_expiry="deny")}, "a question with another patience"),
    ],
    ids=str,
)
def test_it_is_said_how_a_question_about_a_call_should_have_been(
    fields: dict[str, Any], why: str | None
) -> None:
    question = asked(1).model_copy(update=fields)
    assert why_not_asked(question, to_be_asked().state, BEGAN) == why


def test_nothing_is_asked_twice_by_one_name() -> None:
    why = why_not_asked(asked(1), waiting().state, BEGAN)
    assert why == "a question that was not asked before"


def test_nothing_is_asked_about_a_call_that_was_never_judged() -> None:
    why = why_not_asked(asked(1), begun().then(replied(1)).state, BEGAN)
    assert why == "a question about a call that was judged"


TWO_CALLS = Budget(model_calls=2)
USED_UP = Reached("model_calls", Decimal(2), Decimal(2))


@pytest.mark.parametrize("owners", [OWNERS, Approvers(groups=("S0FINANCE",))])
@pytest.mark.parametrize("budget", [TWO_CALLS, None])
def test_who_owns_a_budget_is_not_known_to_a_replay(
    owners: Approvers, budget: Budget | None
) -> None:
    state = spent(2).state
    (question,) = ask_for_more(state, USED_UP, TWO_CALLS, owners, A1, BEGAN)
    assert why_not_asked(question_of(question), state, BEGAN, budget) is None


@pytest.mark.parametrize(
    ("budget", "why"),
    [
        (TWO_CALLS, "a question about what the call would do"),
        (Budget(model_calls=1), "a question about what the call would do"),
        # What its agent's budget would have asked for is not known here,
        (None, None),
        # nor where that budget has changed since and is not used up.
        (Budget(model_calls=9), None),
    ],
)
def test_as_much_more_is_asked_for_as_the_budget_says(
    budget: Budget | None, why: str | None
) -> None:
    state = spent(2).state
    question = ask_for_so_much(state, USED_UP, Decimal(99), OWNERS, A2, BEGAN)
    assert why_not_asked(question, state, BEGAN, budget) == why


@pytest.mark.parametrize(
    ("name", "used", "limit", "budget", "why"),
    [
        ("model_calls", "2", "2", TWO_CALLS, None),
        ("model_calls", "2", "2", None, None),
        ("model_calls", "2", "1", None, None),
        # Right sums that reach no limit, and sums that were not.
        ("model_calls", "2", "5", None, "2 of 5"),
        ("model_calls", "7", "2", None, "2 of 2"),
        ("model_calls", "7", "2", TWO_CALLS, "2 of 2"),
        # The limit is that of the agent's budget, where that is known.
        ("model_calls", "2", "2", Budget(model_calls=1), "2 of 1"),
        ("model_calls", "2", "2", Budget(model_calls=3), "no budget that is used up"),
        ("tokens", "30", "30", TWO_CALLS, "no budget that is used up"),
    ],
)
def test_a_budget_that_is_used_up_is_one_by_the_runs_own_sums(
    name: BudgetName, used: str, limit: str, budget: Budget | None, why: str | None
) -> None:
    fact = BudgetReached(budget=name, used=used, limit=limit)
    assert why_not_reached(fact, spent(2).state, budget) == why
