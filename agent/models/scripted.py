"""A model that replies from a list: for tests of agents and tools."""

from __future__ import annotations

from collections.abc import Iterable

from agent.ports import ModelReply, ModelRequest
from agent.rules.transcript import AssistantMessage, Message, UserMessage, of_this_run

_A_SUMMARY = ModelReply("What was said and done before.")


class ScriptedModel:
    """Gives the replies in their order: the n-th to a run with n - 1 answers in it.

    It goes by the messages and keeps no place of its own, so that a run can be taken up by another
    process; what earlier runs of the conversation said does not count. Asked to sum up what is too long it says
    ``summary``, which is none of them. ``requests`` holds what it was asked.
    Raises ``IndexError`` past the end of the script.
    """

    name = "scripted"

    def __init__(
        self,
        replies: Iterable[ModelReply | Exception],
        summary: ModelReply | Exception = _A_SUMMARY,
    ) -> None:
        self._replies = tuple(replies)
        self._summary = summary
        self.requests: list[ModelRequest] = []

    async def reply(self, request: ModelRequest) -> ModelReply:
        """The next reply, or the exception that stands in its place."""
        self.requests.append(request)
        if request.is_for_summary:
            return _given(self._summary)
        answered = sum(map(_answers, of_this_run(request.messages)))
        if answered >= len(self._replies):
            raise IndexError(f"the script has no reply to a run with {answered} answers")
        return _given(self._replies[answered])


def _answers(message: Message) -> int:
    """How many replies it is, or stands for."""
    if isinstance(message, UserMessage):
        return message.stands_for
    return int(isinstance(message, AssistantMessage))


def _given(reply: ModelReply | Exception) -> ModelReply:
    if isinstance(reply, Exception):
        raise reply
    return reply
