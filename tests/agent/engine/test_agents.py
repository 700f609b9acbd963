"""What an agent says of its policy, to whoever keeps it."""

from __future__ import annotations

import pytest

from agent import Agent, Policy, ScriptedModel, Toolbox, ToolContext, ask_user, tool
from agent.rules.access import Access
from agent.rules.parts import Approvers
from agent.rules.rule import People
from tests.agent.rules.histories import begun


@tool(effect="idempotent")
def pay(amount: int, context: ToolContext) -> str:
    """Pay."""
    return f"paid {amount}"


def agent(*rules: dict[str, object]) -> Agent:
    policy = Policy.model_validate({"owners": {"users": ["U0BOB"]}, "rules": rules})
    return Agent("payments", ScriptedModel([]), Toolbox([pay]), policy)


def test_a_rule_that_names_what_a_call_does_not_have_warns_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    payments = agent(
        {"tool": "pay", "when": "args.amount > 5 && args.amonut > 1", "action": "deny"},
        {"tool": "pay", "action": "ask", "reason": "{args.order} for {args.amount}"},
    )
    for amount in (9, 8, 1, 2):
        payments.judge(begun().state, "pay", {"amount": amount})
    assert [record.getMessage() for record in caplog.records] == [
        "agent payments, a call to pay: the rule speaks of args.amonut, which this call does not have:"
        " deny pay when args.amount > 5 && args.amonut > 1",
        "agent payments, a call to pay: the rule speaks of args.order, which this call does not have:"
        " ask pay",
    ]


def test_a_rule_that_looks_first_whether_it_is_there_warns_nobody(
    caplog: pytest.LogCaptureFixture,
) -> None:
    payments = agent(
        {"tool": "pay", "when": "has(args.order) && args.order > 1", "action": "deny"},
        {"tool": "pay", "when": "args.amount == 'args.note'", "action": "ask"},
    )
    payments.judge(begun().state, "pay", {"amount": 1})
    assert not caplog.records


ASKS_LEGAL = {"tool": "ask_user", "action": "ask", "approvers": {"groups": ["S0LEGAL"]}}


@pytest.mark.parametrize(
    ("access", "rules", "asked"),
    [
        (Access(), (), Approvers(members=True)),
        (Access(), ({"tool": "ask_user", "action": "ask"},), Approvers(members=True)),
        (Access(steer=People(users=("U0ALICE",))), (), Approvers(users=("U0ALICE",))),
        (Access(steer=People(groups=("S0OPS",))), (), Approvers(groups=("S0OPS",))),
        (Access(), (ASKS_LEGAL,), Approvers(groups=("S0LEGAL",))),
        (Access(steer=People(users=("U0ALICE",))), (ASKS_LEGAL,), Approvers(groups=("S0LEGAL",))),
    ],
)
def test_a_question_is_asked_of_whoever_may_steer_unless_a_rule_names_others(
    access: Access, rules: tuple[dict[str, object], ...], asked: Approvers
) -> None:
    policy = Policy.model_validate({"owners": {"users": ["U0BOB"]}, "rules": rules})
    asking = Agent("asking", ScriptedModel([]), Toolbox([ask_user, pay]), policy, access=access)
    question = {"question": "How much?"}
    assert asking.judge(begun().state, "ask_user", question).verdict.approvers == asked
    # A call is another matter: that is the owners'.
    paying = asking.judge(begun().state, "pay", {"amount": 1}).verdict.approvers
    assert paying == Approvers(users=("U0BOB",))
