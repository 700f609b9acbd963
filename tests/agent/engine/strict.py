"""A model that takes no history which a provider would refuse."""

from __future__ import annotations

from agent.ports import Model, ModelReply, ModelRequest
from agent.rules.transcript import AssistantMessage, Message, ToolMessage, UserMessage


class RefusedHistory(Exception):
    """What a provider answers 400 to."""


class StrictModel:
    """Hands a request on to ``inner`` only if every call of every reply has exactly one result right
    behind it, in the order of the calls, and no message is empty."""

    def __init__(self, inner: Model) -> None:
        self._inner = inner

    @property
    def name(self) -> str:
        return self._inner.name

    async def reply(self, request: ModelRequest) -> ModelReply:
        check(request.messages)
        return await self._inner.reply(request)


def check(messages: tuple[Message, ...]) -> None:
    """Raises ``RefusedHistory``."""
    if not messages or not isinstance(messages[0], UserMessage):
        raise RefusedHistory("it does not begin with a person's words")
    owed: list[tuple[str, str]] = []
    for message in messages:
        match message:
            case ToolMessage(model_call_id=model_call_id, tool=tool):
                if not owed or owed.pop(0) != (model_call_id, tool):
                    raise RefusedHistory(f"a result without its call: {model_call_id} of {tool}")
            case AssistantMessage(text=text, calls=calls):
                if owed:
                    raise RefusedHistory(f"calls without a result: {owed}")
                if not text.strip() and not calls:
                    raise RefusedHistory("an empty reply")
                owed = [(call.model_call_id, call.tool) for call in calls]
            case UserMessage(text=text):
                if owed or not text.strip():
                    raise RefusedHistory("a person's words amid calls, or none at all")
    if owed:
        raise RefusedHistory(f"calls without a result: {owed}")
