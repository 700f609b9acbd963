"""A tool that pays, a limit on what it pays, and runs that spend."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal
from typing import Annotated, Any

from agent import (
    Committed,
    Decider,
    Money,
    Policy,
    Principal,
    Rejected,
    ToolContext,
    tool,
)
from agent.ports import ModelReply
from agent.rules.effects import reserved
from agent.rules.state import RunState
from agent.tools.declare import Tool
from tests.agent.engine.bench import Bench, calls, says

BOB = Decider(Principal("slack:T0PILOT:U0BOB"), user="U0BOB")
DAY = timedelta(days=1)


def limited(action: str = "allow", over: str = "ask", **more: Any) -> Policy:
    limit = {"sum": "args.amount", "per": ["user", "day"], "max": 500, "when_over": over}
    rule = {"tool": "pay", "action": action, "limit": limit, **more}
    return Policy.model_validate({"owners": {"users": ["U0BOB"]}, "rules": [rule]})


@dataclass
class Bank:
    """What was paid; it can be told to reject, or to be silent, once."""

    paid: list[int] = field(default_factory=list)
    answers: list[Exception] = field(default_factory=list)
    knows: bool = False

    def tool(self, effect: Any = "once", reconciles: bool = False) -> Tool:
        def look_for(operation_id: str) -> Committed | Rejected:
            return Committed("found") if self.knows else Rejected("never heard of it")

        @tool(effect=effect, reconcile=look_for if reconciles else None, timeout=5)
        def pay(amount: Annotated[Decimal, Money("USD")], context: ToolContext) -> str:
            """Pay."""
            if self.answers:
                raise self.answers.pop(0)
            self.paid.append(int(amount))
            return "paid"

        return pay


def pays(*amounts: float) -> ModelReply:
    return calls(*(("pay", f'{{"amount": {amount}}}') for amount in amounts))


def paying(amount: float) -> list[ModelReply]:
    """What every run does."""
    return [pays(amount), says("done")]


async def used(b: Bench, state: RunState) -> int:
    """Of the only limit that the run has touched."""
    (key,) = {one.limit for one in reserved(state)}
    return int((await b.store.limits.used([key]))[key])


async def again(b: Bench, state: RunState) -> RunState:
    await b.work()
    return await b.runtime.state(state.run_id)


async def decide(b: Bench, state: RunState, decision: Any, by: Decider = BOB) -> RunState:
    (asked,) = state.open_approvals
    await b.runtime.decide(asked.id, decision, by)
    return await again(b, state)
