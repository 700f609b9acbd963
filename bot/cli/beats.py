"""What ``watch`` says of each event: the beats of a run's story. Pure."""

from __future__ import annotations

from agent.rules.events import (
    ApprovalDecided,
    ApprovalRequested,
    CallJudged,
    CallLeftUnknown,
    CallRefused,
    CallReturned,
    CallStarted,
    Event,
    ModelFailed,
    ModelReplied,
    Recorded,
    RunFailed,
    RunFinished,
    RunStarted,
    dump_text,
)
from agent.rules.ids import CallId
from agent.rules.state import RunState
from bot.cli.plain import lines, one_line


def beat(recorded: Recorded, state: RunState) -> str | None:
    """The line for this event, ``state`` being that after it; None where there is nothing to say."""
    event: Event = recorded.event
    match event:
        case RunStarted():
            return "run started"
        case ModelReplied() | CallJudged() | CallStarted():
            return None
        case ModelFailed(error=error, retry_at=retry_at):
            again = "" if retry_at is None else f"; asked again at {retry_at:%H:%M:%S} UTC"
            return f"no answer from the model: {one_line(error)}{again}"
        case CallRefused(call_id=call_id, message=message):
            return f"refused: {_tool(state, call_id)}: {one_line(message)}"
        case ApprovalRequested():
            return _paused(event)
        case ApprovalDecided():
            return _decided(event)
        case CallReturned(call_id=call_id, is_error=True, output=output):
            said = output if isinstance(output, str) else dump_text(output)
            return f"failed: {_tool(state, call_id)}: {one_line(said)}"
        case CallReturned(call_id=call_id):
            return f"done: {_tool(state, call_id)}"
        case CallLeftUnknown(call_id=call_id, detail=detail):
            return f"not known: {_tool(state, call_id)}: {one_line(detail)}"
        case RunFinished(answer=answer):
            return f"finished: {lines(answer)}"
        case RunFailed(error=error):
            return f"run failed: {one_line(error)}"


def _tool(state: RunState, call_id: CallId) -> str:
    return one_line(state.calls[call_id].tool)


def _paused(event: ApprovalRequested) -> str:
    what = "approval" if event.approval_kind == "call" else "review"
    return f"PAUSED for {what} ({one_line(event.reason)}), token {event.approval_id}"


def _decided(event: ApprovalDecided) -> str:
    by_whom = "human" if event.by.split(":")[0] in ("slack", "cli") else "automatic"
    outcome = f" ({event.outcome})" if event.outcome else ""
    return f"{by_whom} decision: {event.action}{outcome}"
