"""What a model is asked, as long as it may be: how large a request is, and the request for a summary."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from agent.ports import ModelReply, ModelRequest, ModelUnavailable, ToolSpec
from agent.rules.json_text import dump_text
from agent.rules.long_conversations import ConversationSummarised
from agent.rules.sizes import FRAME, tokens_of, tokens_of_messages
from agent.rules.state import RunState
from agent.rules.summing_up import INSTRUCTIONS, summary_of, to_sum_up


def size_of_fixed(instructions: str, tools: Iterable[ToolSpec]) -> int:
    """In tokens, what each request says beside the conversation."""
    told = (tool.name + tool.description + dump_text(tool.parameters) for tool in tools)
    return tokens_of(instructions) + sum(FRAME + tokens_of(text) for text in told)


def size_of(request: ModelRequest) -> int:
    """In tokens, all of it."""
    return size_of_fixed(request.instructions, request.tools) + tokens_of_messages(request.messages)


def request_for_summary(state: RunState, replies: int, room: int | None) -> ModelRequest:
    """To sum up what was before the reply behind the first ``replies``, in at most ``room`` tokens."""
    wanted = to_sum_up(state, replies, room)
    return ModelRequest(INSTRUCTIONS, wanted.messages, (), is_for_summary=True)


_NO_SUMMARY = (
    "The model gave no summary of the conversation so far. Raise the agent's context_tokens or take it out, or give "
    "the agent another model, and retry."
)


def summarised(
    reply: ModelReply,
    state: RunState,
    replies: int,
    room: int | None,
    *,
    asked_at: int,
    began_at: datetime,
    model: str,
) -> ConversationSummarised:
    """Raises ``ModelUnavailable`` for an answer that is no summary."""
    if not reply.text.strip():
        raise ModelUnavailable(_NO_SUMMARY, usage=reply.usage)
    return ConversationSummarised(
        replies=replies,
        summary=summary_of(state, replies, reply.text, room),
        asked_at=asked_at,
        model=model,
        usage=reply.usage,
        began_at=began_at,
    )
