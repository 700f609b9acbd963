"""A question in a journal, once more: is it what would have been asked, and of the same people?"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal

from agent.rules.asking import ask_about, ask_what_happened
from agent.rules.budgets import Budget, Reached, ask_for_so_much, budget_of, is_cost_open, used_of
from agent.rules.calls import Call
from agent.rules.events import ApprovalRequested
from agent.rules.interventions import BudgetReached
from agent.rules.parts import Approvers
from agent.rules.state import RunState

#: What a difference is called, by the field that has it.
_IN_WORDS: Mapping[str, str] = {
    "approvers": "a question to those whom its verdict names",
    "args": "a question about what the call would do",
    "approval_kind": "a question of its kind",
}


def why_not_asked(
    asked: ApprovalRequested, state: RunState, at: datetime, budget: Budget | None = None
) -> str | None:
    """What should have been asked, in words; None where it is right. ``budget`` is that of the run's agent, if
    it is known; who its owners are is not."""
    if asked.approval_id in state.approvals:
        return "a question that was not asked before"
    if asked.call_id is None:
        return _why_not(asked, _asked_for_more(asked, state, at, budget))
    call = state.call(asked.call_id)
    if asked.tool != call.tool:
        return f"a question about {call.tool}"
    if asked.supersedes != call.approval_id:
        return f"a question in place of {call.approval_id}"
    if call.verdict is None:
        return "a question about a call that was judged"
    return _why_not(asked, _as_of_old(_asked_about(asked, call, state, at), asked, call, state))


def why_not_reached(fact: BudgetReached, state: RunState, budget: Budget | None) -> str | None:
    """What is wrong with the sums of a budget that is said to be used up."""
    used = used_of(state, fact.budget)
    reached = budget.reached(state) if budget else Reached(fact.budget, used, Decimal(fact.limit))
    if reached is None or reached.budget != fact.budget:
        return "no budget that is used up"
    same = (fact.used, fact.limit) == (str(reached.used), str(reached.limit))
    is_over = not reached.is_not_known or (fact.budget == "cost_usd" and is_cost_open(state))
    return None if same and is_over else f"{reached.used} of {reached.limit}"


def _why_not(asked: ApprovalRequested, expected: ApprovalRequested) -> str | None:
    for name in type(asked).model_fields:
        if getattr(asked, name) != getattr(expected, name):
            return _IN_WORDS.get(name, f"a question with another {name.replace('_', ' ')}")
    return None


def _asked_about(
    asked: ApprovalRequested, call: Call, state: RunState, at: datetime
) -> ApprovalRequested:
    if asked.approval_kind == "review":
        return ask_what_happened(call, call.detail, asked.approval_id, asked.group)
    return ask_about(call, asked.approval_id, state.replies[-1].group, at)


def _as_of_old(
    expected: ApprovalRequested, asked: ApprovalRequested, call: Call, state: RunState
) -> ApprovalRequested:
    """With what journals of before did not have, had otherwise, or had written down nowhere else."""
    kept = ("version", *_OTHERWISE[state.form]) if state.form in _OTHERWISE else ("version",)
    if state.form == 1 and not call.can_preview:
        kept += ("preview",)
    return expected.model_copy(update={name: getattr(asked, name) for name in kept})


#: By form: what is not held against a question of then.
_OTHERWISE: Mapping[int, tuple[str, ...]] = {
    1: ("title", "rule", "reason", "group", "again_because", "expires_at", "hash"),
    2: ("title", "rule", "reason", "hash"),
}


def _asked_for_more(
    asked: ApprovalRequested, state: RunState, at: datetime, budget: Budget | None
) -> ApprovalRequested:
    owners = Approvers(users=asked.approvers.users, groups=asked.approvers.groups)
    name = budget_of(asked)
    limit, more = Decimal(str(asked.args["limit"])), Decimal(str(asked.args["more"]))
    reached = Reached(name, used_of(state, name), limit)
    if budget is not None and (today := budget.reached(state)) is not None:
        reached, more = today, budget.more(today)
    return ask_for_so_much(state, reached, more, owners, asked.approval_id, at)
