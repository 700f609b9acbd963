"""What the model is told: the state as a conversation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pydantic import JsonValue

from agent.rules.events import ProposedCall, dump_text
from agent.rules.state import Call, CallResult, RunState


@dataclass(frozen=True, slots=True)
class UserMessage:
    """What a person said."""

    text: str


@dataclass(frozen=True, slots=True)
class AssistantMessage:
    """What the model said, and the calls that it proposed."""

    text: str
    calls: tuple[ProposedCall, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolMessage:
    """The one result of one call. ``output`` is JSON where the tool spoke, a sentence elsewhere."""

    model_call_id: str
    tool: str
    output: str
    is_error: bool = False


Message = UserMessage | AssistantMessage | ToolMessage


def transcript(state: RunState) -> tuple[Message, ...]:
    """The run as messages: each call of each reply is followed by exactly one result."""
    return (UserMessage(state.prompt), *_turns(state))


def _turns(state: RunState) -> Iterator[Message]:
    for reply in state.replies:
        calls = state.calls_of(reply)
        if not calls and not reply.text.strip():
            continue  # An empty reply: providers refuse it in a history.
        yield AssistantMessage(reply.text, tuple(call.proposed for call in calls))
        for call in calls:
            if call.result is not None:
                yield _result(call, call.result)


def _result(call: Call, result: CallResult) -> ToolMessage:
    return ToolMessage(
        model_call_id=call.proposed.model_call_id,
        tool=call.tool,
        output=_words(call, result),
        is_error=result.outcome in ("error", "refused"),
    )


def _words(call: Call, result: CallResult) -> str:
    match result.outcome:
        case "ok" | "error":
            return _steered(call) + _as_text(result.output)
        case "refused":
            return f"Not executed and not queued. {_as_text(result.output)}"
        case "denied":
            reason = f" Reason: {result.output}" if result.output else " No reason was given."
            return f"Denied by a person. {_was_not_executed(call)} and will not be.{reason}"
        case "guided":
            return f"{_was_not_executed(call)}. A person wants it done otherwise: {result.output}"
        case "happened":
            return (
                f"{_steered(call)}It happened: a person confirmed it. Its own answer is not known."
            )
        case "given_up":
            return f"{_steered(call, 'it was tried with')}Nobody could tell whether it happened. Do not repeat it."


def _was_not_executed(call: Call) -> str:
    """A lost answer is no proof that nothing happened."""
    if call.effect == "idempotent" and call.attempts > 0:
        return "It was started before and its answer was lost; it was not executed again"
    return "It was not executed"


def _steered(call: Call, how: str = "it was executed with") -> str:
    """What a person changed, ahead of what became of it."""
    if call.steered_by is None:
        return ""
    return f"A person changed the arguments; {how} {dump_text(dict(call.args))}.\n"


def _as_text(output: JsonValue) -> str:
    return output if isinstance(output, str) else dump_text(output)
