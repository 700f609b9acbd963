"""A model that replies from a list: for tests of agents and tools."""

from __future__ import annotations

from collections.abc import Iterable

from agent.ports import ModelReply, ModelRequest
from agent.rules.transcript import AssistantMessage, of_this_run


class ScriptedModel:
    """Gives the replies in their order: the n-th to a run with n - 1 answers in it.

    It goes by the messages and keeps no place of its own, so that a run can be taken up by another
    process; what earlier runs of the conversation said does not count. ``requests`` holds what it was asked.
    Raises ``IndexError`` past the end of the script.
    """

    name = "scripted"

    def __init__(self, replies: Iterable[ModelReply | Exception]) -> None:
        self._replies = tuple(replies)
        self.requests: list[ModelRequest] = []

    async def reply(self, request: ModelRequest) -> ModelReply:
        """The next reply, or the exception that stands in its place."""
        self.requests.append(request)
        messages = of_this_run(request.messages)
        answered = sum(isinstance(message, AssistantMessage) for message in messages)
        if answered >= len(self._replies):
            raise IndexError(f"the script has no reply to a run with {answered} answers")
        reply = self._replies[answered]
        if isinstance(reply, Exception):
            raise reply
        return reply
