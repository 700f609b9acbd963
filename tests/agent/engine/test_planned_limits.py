"""Calls of one reply that are planned in one commit share what is left of a limit."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Annotated

from hypothesis import given
from hypothesis import strategies as st

from agent import Agent, Money, Policy, ScriptedModel, Toolbox, tool
from agent.engine.gate import Gate
from agent.engine.journaling import foresee
from agent.engine.new_ids import UuidIds
from agent.engine.planning import Planner
from agent.rules.circumstances import Circumstances
from agent.rules.events import CallStarted, ModelReplied, RunStarted
from agent.rules.fold import fold
from agent.rules.ids import CallId, EventId, OperationId, RunId, SessionId
from agent.rules.parts import ProposedCall
from agent.rules.recorded import Recorded, Stamped
from agent.rules.state import RunState
from tests.agent.engine.bench import ALICE

NOW = datetime(2026, 11, 30, 18, tzinfo=UTC)
MAX = 500
POLICY = Policy.model_validate(
    {
        "owners": {"users": ["U0BOB"]},
        "rules": [
            {
                "tool": "pay",
                "action": "allow",
                "limit": {"sum": "args.amount", "per": ["user", "day"], "max": MAX},
            }
        ],
    }
)


@tool(effect="once")
def pay(amount: Annotated[Decimal, Money("USD")]) -> str:
    """Pay."""
    return "paid"


AGENT = Agent("tester", ScriptedModel([]), Toolbox([pay]), POLICY)


def proposed(amounts: list[Decimal]) -> RunState:
    """A run whose model wants to pay all of these."""
    started = RunStarted(agent="tester", session=SessionId("s"), prompt="go", requester=ALICE)
    calls = tuple(
        ProposedCall(
            call_id=CallId(f"call_{number}"),
            operation_id=OperationId(f"op_{number}"),
            model_call_id="m",
            tool="pay",
            arguments=f'{{"amount": {amount}}}',
        )
        for number, amount in enumerate(amounts)
    )
    state = fold([Recorded(RunId("run_1"), 1, EventId("1"), NOW, "", started)])
    replied = ModelReplied(text="", calls=calls, asked_at=1, model="m")
    return foresee(state, [Stamped(EventId("2"), NOW, replied)])


@given(
    st.lists(st.decimals(0, 600, places=2), min_size=1, max_size=8),
    st.decimals(0, 600, places=2),
)
def test_they_start_in_their_order_as_long_as_each_is_within_it(
    amounts: list[Decimal], used: Decimal
) -> None:
    state = proposed(amounts)
    keys = AGENT.limits_of(state, ["pay"], NOW)
    plan = Planner(Gate(AGENT, UuidIds())).plan(
        state,
        now=NOW,
        in_flight=frozenset(),
        may_start=True,
        heard={},
        around=Circumstances(used=dict.fromkeys(keys, used), at=NOW),
    )
    expected, total = [], used
    for number, amount in enumerate(amounts):
        if not amount or total + amount <= MAX:
            total += amount
            expected.append(f"call_{number}")
    assert list(plan.started) == expected
    starts = [one.event for one in plan.intents if isinstance(one.event, CallStarted)]
    assert used + sum(one.amount for start in starts for one in start.reserves) == total
