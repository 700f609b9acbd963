"""Conversations with the demo's model: what it is told, and what it says then."""

from __future__ import annotations

import json

from agent.ports import ModelRequest, ToolSpec
from agent.rules.ids import CallId, OperationId
from agent.rules.parts import ProposedCall
from agent.rules.transcript import AssistantMessage, Message, ToolMessage, UserMessage
from agent.tools import asking
from agent.tools.registry import Toolbox
from bot.demo import tools
from bot.demo.model import DemoModel

#: Those of the demo's agent.
TOOLS: tuple[ToolSpec, ...] = Toolbox.of_modules([tools, asking]).specs


def called(
    tool: str, args: dict[str, object], output: str, is_error: bool = False
) -> list[Message]:
    call = ProposedCall(
        call_id=CallId("call_1"),
        operation_id=OperationId("op_1"),
        model_call_id="m",
        tool=tool,
        arguments=json.dumps(args),
    )
    return [AssistantMessage("", (call,)), ToolMessage("m", tool, output, is_error)]


async def ask(
    prompt: str, *turns: list[Message]
) -> tuple[str, list[tuple[str, dict[str, object]]]]:
    messages = (UserMessage(prompt), *(message for turn in turns for message in turn))
    reply = await DemoModel().reply(ModelRequest("", messages, TOOLS))
    return reply.text, [(call.tool, json.loads(call.arguments)) for call in reply.calls]


def told(*texts: str) -> list[Message]:
    return [UserMessage(text) for text in texts]
