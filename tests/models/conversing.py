"""Models that ask the stand-in, and what they are asked."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta

import pytest

from agent.models.library import LibraryModel
from agent.ports import ModelReply, ModelRequest, ToolSpec
from agent.rules.ids import CallId, OperationId
from agent.rules.parts import ProposedCall
from agent.rules.transcript import AssistantMessage, ToolMessage, UserMessage
from tests.models.standin import (
    Call,
    Deed,
    StandIn,
    anthropic,
    chat,
    responses,
    says,
    standing_in,
    streams,
)

CHAT, RESPONSES, CLAUDE = "openai-chat:gpt-4o", "openai:gpt-5", "anthropic:claude-sonnet-5-5"
EACH = (CHAT, RESPONSES, CLAUDE)
SECRET = "sk-secret-of-this-test"
PAY = ToolSpec(
    "shop.pay",
    "Pay an amount.",
    {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]},
)
HELLO = ModelRequest("Be brief.", (UserMessage("hello"),), (PAY,))
#: Two at once; of the second the arguments are no JSON.
PAY_TWICE: tuple[Call, ...] = (("shop__pay", '{"n": 1}', "c1"), ("shop__pay", '{"n": ', "c2"))


@asynccontextmanager
async def asked_of_a_stand_in(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[StandIn]:
    """Whatever model is made in here asks the stand-in."""
    async with standing_in() as stand_in:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{stand_in.url}/v1")
        monkeypatch.setenv("OPENAI_API_KEY", SECRET)
        monkeypatch.setenv("ANTHROPIC_BASE_URL", stand_in.url)
        monkeypatch.setenv("ANTHROPIC_API_KEY", SECRET)
        yield stand_in


def model(name: str, timeout: float = 30) -> LibraryModel:
    return LibraryModel(name, timeout=timedelta(seconds=timeout))


def answers(name: str, text: str = "", *calls: Call) -> Deed:
    """What the provider of that model answers, on its own wire."""
    if name == CHAT:
        return says(chat(text, *calls))
    if name == RESPONSES:
        return says(responses(text, *calls))
    return streams(anthropic(text, *calls, thought="Hm."))


def after(reply: ModelReply) -> ModelRequest:
    """The conversation goes on from ``reply``, of whose calls the second failed."""
    calls = tuple(
        ProposedCall(
            call_id=CallId(f"call_{number}"),
            operation_id=OperationId(f"op_{number}"),
            model_call_id=call.model_call_id,
            tool=call.tool,
            arguments=call.arguments,
        )
        for number, call in enumerate(reply.calls)
    )
    return ModelRequest(
        "Be brief.",
        (
            UserMessage("hello"),
            AssistantMessage(reply.text, calls, reply.provider),
            ToolMessage("c1", "shop.pay", '"paid"'),
            ToolMessage("c2", "shop.pay", "not JSON", is_error=True),
            UserMessage("and now?"),
        ),
        (PAY,),
    )
