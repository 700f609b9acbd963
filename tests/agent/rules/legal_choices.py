"""What the policy, people, models and tools may come up with in a legal history."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

from hypothesis import strategies as st
from pydantic import JsonValue

from agent.rules.budgets import Budget
from agent.rules.compacting import Context
from agent.rules.decisions import Answer, Approve, Decider, Decision, Deny, Settle, Steer
from agent.rules.grants import GrantWish
from agent.rules.ids import Principal
from agent.rules.parts import ApprovalKind, Approvers, Effect, Escalation, Granting, Patience
from tests.agent.rules.histories import (
    AS_ALICE,
    AS_BOB,
    AS_CAROL,
    AS_FRANK,
    AS_OPERATOR,
    STAGES,
    TWO_OF_FINANCE,
)
from tests.agent.rules.judges import RefundJudge

GRACE = Decider(
    Principal("slack:T0PILOT:U0GRACE"), user="U0GRACE", groups=frozenset({"S0FINANCE", "S0LEGAL"})
)
DECIDERS = (AS_BOB, AS_BOB, AS_FRANK, AS_FRANK, GRACE, AS_ALICE, AS_CAROL, AS_OPERATOR)
EACH = Approvers(groups=("S0FINANCE",), one_from_each=("S0FINANCE", "S0LEGAL"))

HOUR = timedelta(hours=1)
#: Legal may decide as well after a while, then Carol; who is silent for an hour is passed over.
CHAIN = Patience(
    expires=HOUR,
    on_expiry="escalate",
    remind=HOUR / 4,
    escalate=(
        Escalation(after=HOUR / 2, groups=("S0LEGAL",)),
        Escalation(after=HOUR * 3 / 4, users=("U0CAROL",)),
    ),
)

EFFECTS: tuple[Effect, ...] = ("read", "idempotent", "once")
JUDGES = (
    RefundJudge(),
    RefundJudge(asks_above=500),
    RefundJudge(asks_above=20, can_preview=True),
    RefundJudge(asks_above=20, can_preview=True, preview_must_match=True),
    RefundJudge(asks_above=20, approvers=TWO_OF_FINANCE),
    RefundJudge(asks_above=20, approvers=EACH, can_preview=True, preview_must_match=True),
    RefundJudge(asks_above=20, valid_for=timedelta(minutes=30)),
    RefundJudge(asks_above=20, patience=Patience(expires=HOUR, remind=HOUR / 4)),
    RefundJudge(asks_above=20, patience=Patience(expires=HOUR, on_expiry="deny")),
    RefundJudge(asks_above=20, patience=Patience(expires=HOUR, on_expiry="stop", remind=HOUR / 3)),
    RefundJudge(asks_above=20, patience=CHAIN, can_preview=True),
    RefundJudge(asks_above=20, patience=CHAIN.model_copy(update={"on_expiry": "wait"})),
    RefundJudge(asks_above=20, granting=Granting(scopes=("run",), longest=2 * HOUR)),
)
#: They let people allow others like it too.
GRANTING_JUDGES = (
    RefundJudge(asks_above=20, granting=Granting(scopes=("run",), longest=2 * HOUR)),
    RefundJudge(asks_above=5, granting=Granting(scopes=("run", "thread"))),
)
OWNERS = Approvers(users=("U0CAROL",))
BUDGETS = (
    None,
    None,
    Budget(model_calls=2),
    Budget(model_calls=3, tokens=40),
    Budget(minutes=Decimal(1)),
    Budget(model_calls=2, on_reached="stop"),
)
#: What a run in these histories says is little.
CONTEXTS = (None, None, Context(120), Context(300, lambda: 40), Context())
#: For each kind of approval; the last is of the wrong kind, and is refused.
DECISIONS: dict[ApprovalKind, tuple[Decision, ...]] = {
    "call": (
        Approve(),
        Approve("fine"),
        Approve(),
        Deny(),
        Deny("too much"),
        Steer({"amount": 90}),
        Steer({"amount": 450}),
        Steer({"amount": 5_000}),
        Steer({"amount": "abc"}),
        Steer(guidance="ask the customer first"),
        Steer(guidance="said to nobody", ref="slack:T0:C0:1.2"),
        Settle("check"),
    ),
    "question": (Answer("staging"), Answer("production"), Answer("the moon"), Answer(" "), Deny()),
    "review": (
        Settle("happened"),
        Settle("not_happened"),
        Settle("check"),
        Settle("give_up"),
        Approve(),
    ),
    "budget": (
        Approve(),
        Approve(more=Decimal(1)),
        Approve(more=Decimal(0)),
        Deny("enough"),
        Steer(),
    ),
}
#: Where the rule allows it.
GRANTS: tuple[Decision, ...] = (
    Approve(grant=GrantWish("run")),
    Approve(grant=GrantWish("run", HOUR, any_arguments=True)),
    Approve("go on", grant=GrantWish("thread", any_arguments=True)),
)
#: What people say to a run.
WORDS = ("and ORD-1 as well", "stop that", " ")
QUESTION = STAGES
AMOUNTS = st.sampled_from([10, 90, 180, 600, 5_000])
#: What a tool says would happen; None: it could not say.
PREVIEWS = st.sampled_from(["to card 42", "to card 42", "to card 42", "to card 43", None])
#: Also what JSON has of its own: non-ASCII, exponents, nothing at all.
OUTPUTS: st.SearchStrategy[JsonValue] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)  # fmt: skip
