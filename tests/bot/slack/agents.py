"""Agents of one script each: they ask finance, risk an unknown effect, or ask people something."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Annotated

from pydantic import Field

from agent import (
    Agent,
    Committed,
    Money,
    Policy,
    ScriptedModel,
    Toolbox,
    ToolContext,
    ask_user,
    tool,
)
from agent.ports import ModelCall, ModelReply


@tool(title="Refund an order", effect="idempotent", timeout=5)
async def process_refund(
    order: str, amount: Annotated[Decimal, Field(gt=0), Money("USD")], context: ToolContext
) -> Committed:
    """Refund an order."""
    return Committed({"order": order, "amount": str(amount)}, external_id=context.operation_id)


@tool(title="Send a voucher", effect="once", timeout=5)
async def send_voucher(email: str) -> None:
    """Send a voucher."""
    raise ConnectionError("the connection was lost")


@tool(title="Run a script", effect="idempotent", timeout=5)
async def run_script(script: str, host: str, context: ToolContext) -> str:
    """Run a script."""
    return f"{len(script)} on {host}"


def scripts(script: str) -> Agent:
    """Asks finance for one run of this script, and is done."""
    arguments = json.dumps({"script": script, "host": "web-1"})
    model = ScriptedModel(
        [
            ModelReply(calls=(ModelCall("m1", "run_script", arguments),)),
            ModelReply(text="All done."),
        ]
    )
    rule = {"tool": "run_script", "action": "ask", "approvers": {"groups": ["S0FINANCE"]}}
    policy = Policy.model_validate({"rules": [rule]})
    return Agent("scripts", model, Toolbox([run_script]), policy)


def vouchers(email: str = "a@b.example") -> Agent:
    """Sends one voucher, of which nobody knows whether it arrived."""
    call = ModelCall("m1", "send_voucher", json.dumps({"email": email}))
    model = ScriptedModel([ModelReply(calls=(call,)), ModelReply(text="All done.")])
    policy = Policy.model_validate(
        {
            "owners": {"groups": ["S0FINANCE"]},
            "rules": [{"tool": "send_voucher", "action": "allow"}],
        }
    )
    return Agent("vouchers", model, Toolbox([send_voucher]), policy)


def refunds(policy: Policy | None = None, amount: str = "180") -> Agent:
    """Asks finance for one refund, and is done."""
    arguments = f'{{"order": "ORD-3300", "amount": {amount}}}'
    model = ScriptedModel(
        [
            ModelReply(calls=(ModelCall("m1", "process_refund", arguments),)),
            ModelReply(text="All done."),
        ]
    )
    return Agent("refunds", model, Toolbox([process_refund]), policy or _asks_finance())


def several_refunds(count: int, policy: Policy | None = None) -> Agent:
    """Asks finance for so many refunds in one reply, and is done."""
    arguments = [f'{{"order": "ORD-{n}", "amount": 180}}' for n in range(1, count + 1)]
    calls = tuple(ModelCall(f"m{n}", "process_refund", one) for n, one in enumerate(arguments, 1))
    model = ScriptedModel([ModelReply(calls=calls), ModelReply(text="All done.")])
    return Agent("refunds", model, Toolbox([process_refund]), policy or _asks_finance())


def _asks_finance() -> Policy:
    rule = {
        "tool": "process_refund",
        "action": "ask",
        "reason": "refunds are asked",
        "approvers": {"groups": ["S0FINANCE"]},
    }
    return Policy.model_validate({"rules": [rule]})


def asking_twice() -> Agent:
    """Asks one thing and then another, and thanks for the answers."""
    calls = [_asks("m1", "Is it ORD-1?"), _asks("m2", "Really all of it?")]
    replies = [ModelReply(calls=(one,)) for one in calls]
    return Agent(
        "asking", ScriptedModel([*replies, ModelReply(text="Thanks.")]), Toolbox([ask_user])
    )


def asking_two_things() -> Agent:
    """Asks both at once."""
    reply = ModelReply(calls=(_asks("m1", "Which order?"), _asks("m2", "How much?")))
    return Agent("asking", ScriptedModel([reply, ModelReply(text="Thanks.")]), Toolbox([ask_user]))


def _asks(call_id: str, question: str) -> ModelCall:
    return ModelCall(call_id, "ask_user", json.dumps({"question": question}))


def asking(*options: str, free_text: bool = True, policy: Policy | None = None) -> Agent:
    """Asks how much, and thanks for the answer."""
    question = json.dumps({"question": "How much?", "options": options, "free_text": free_text})
    model = ScriptedModel(
        [
            ModelReply(calls=(ModelCall("m1", "ask_user", question),)),
            ModelReply(text="Thanks."),
        ]
    )
    return Agent("asking", model, Toolbox([ask_user]), policy or Policy())
