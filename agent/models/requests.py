"""What a model is told, as the model library wants it: of its stable parts alone."""

from __future__ import annotations

from pydantic_ai.messages import (
    InstructionPart,
    ModelMessage,
    ModelRequestPart,
    ModelResponse,
    ModelResponsePart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.messages import ModelRequest as LibraryRequest
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.tools import ToolDefinition

from agent.models.having_back import give_back
from agent.models.tool_names import on_the_wire
from agent.ports import ModelRequest
from agent.rules.arguments import MalformedArguments, parse_arguments
from agent.rules.json_text import dump_text
from agent.rules.transcript import AssistantMessage, ToolMessage, UserMessage


def parameters_of(request: ModelRequest) -> ModelRequestParameters:
    """The instructions, and the tools that there are."""
    tools = [
        ToolDefinition(
            name=on_the_wire(tool.name),
            description=tool.description,
            parameters_json_schema=tool.parameters,
            # Arguments are checked here; a schema that is to be kept strictly may say less than ours do.
            strict=False,
        )
        for tool in request.tools
    ]
    said = [InstructionPart(content=request.instructions)] if request.instructions.strip() else None
    return ModelRequestParameters(function_tools=tools, instruction_parts=said)


def messages_of(request: ModelRequest, model: str) -> list[ModelMessage]:
    """The conversation; ``model`` gets back what it wanted to."""
    messages: list[ModelMessage] = []
    told: list[ModelRequestPart] = []
    for message in request.messages:
        if isinstance(message, AssistantMessage):
            if told:
                messages.append(LibraryRequest(parts=told))
            told = []
            messages.append(_reply(message, model))
        else:
            told.append(_told(message))
    return [*messages, LibraryRequest(parts=told)] if told else messages


def _told(message: UserMessage | ToolMessage) -> ModelRequestPart:
    match message:
        case UserMessage(text=text):
            return UserPromptPart(text)
        case ToolMessage():
            return ToolReturnPart(
                on_the_wire(message.tool),
                message.output,
                message.model_call_id,
                outcome="failed" if message.is_error else "success",
            )


def _reply(message: AssistantMessage, model: str) -> ModelResponse:
    parts: list[ModelResponsePart] = [TextPart(message.text)] if message.text.strip() else []
    parts += [
        ToolCallPart(on_the_wire(call.tool), _arguments(call.arguments), call.model_call_id)
        for call in message.calls
    ]
    plain = ModelResponse(parts)
    return give_back(message.provider, plain, model) or plain


def _arguments(text: str) -> str:
    """Providers take nothing but an object in a history."""
    try:
        parse_arguments(text)
    except MalformedArguments:
        return dump_text({"malformed": text})
    return text
