"""What a model answered, taken whole or not at all."""

from __future__ import annotations

from pydantic_ai.messages import ModelResponse, ToolCallPart

from agent.models.having_back import keep
from agent.models.prices import usage_of
from agent.models.tool_names import as_here
from agent.ports import ModelCall, ModelRefused, ModelReply, ModelRequest, ModelUnavailable
from agent.rules.json_text import dump_text


def as_reply(response: ModelResponse, request: ModelRequest, model: str) -> ModelReply:
    """Raises ``ModelUnavailable`` for what broke off, ``ModelRefused`` for what would do so again."""
    _check_is_whole(response, model)
    calls = tuple(
        ModelCall(part.tool_call_id, as_here(part.tool_name, request.tools), _arguments(part))
        for part in response.tool_calls
    )
    return ModelReply(
        text=response.text or "",
        calls=calls,
        usage=usage_of(response),
        provider=keep(response, model),
    )


def _check_is_whole(response: ModelResponse, model: str) -> None:
    said = (response.provider_details or {}).get("finish_reason") or response.finish_reason
    # What breaks off says what it has used no more than the rest.
    usage = usage_of(response) if said else None
    match response.finish_reason:
        case "length":
            raise ModelRefused(
                f"{model} was cut off at the most that it may write in one reply"
                f" ({response.usage.output_tokens:,} tokens); nothing of it was used. Ask for less at"
                " a time, or take a model that may write more.",
                usage,
            )
        case "content_filter":
            raise ModelRefused(
                f"What {model} answered was held back by its provider's filter; nothing of it was"
                " used. Put the request otherwise, or take another model.",
                usage,
            )
        case "stop" | "tool_call" if response.state == "complete":
            return
        case _:
            raise ModelUnavailable(
                f"The reply of {model} did not come to its end ({said or 'it does not say how it ended'}).",
                usage=usage,
            )


def _arguments(part: ToolCallPart) -> str:
    """As the model wrote them, whatever that is. Some providers give a value, or, for a call without arguments,
    none: that is no text of the model's."""
    if isinstance(part.args, str):
        return part.args
    return dump_text(part.args or {})
