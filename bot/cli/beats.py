"""What ``watch`` says of each event: the beats of a run's story. Pure."""

from __future__ import annotations

from typing import assert_never

from agent.rules.consent import missing
from agent.rules.events import (
    ApprovalDecided,
    ApprovalRequested,
    ApprovalVoted,
    CallJudged,
    CallLeftUnknown,
    CallLookedUp,
    CallPreviewed,
    CallRefused,
    CallReturned,
    CallStarted,
    Event,
    ModelFailed,
    ModelReplied,
    RunFailed,
    RunFinished,
    RunReopened,
    RunStarted,
    Word,
)
from agent.rules.json_text import dump_text
from agent.rules.recorded import Recorded
from agent.rules.state import RunState
from bot.cli.plain import lines, one_line

CallBeat = CallPreviewed | CallRefused | CallLookedUp | CallReturned | CallLeftUnknown


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
        case CallPreviewed() | CallRefused() | CallLookedUp() | CallReturned() | CallLeftUnknown():
            return _of_call(event, one_line(state.calls[event.call_id].tool))
        case ApprovalRequested():
            return _paused(event)
        case ApprovalVoted():
            return _voted(event, state)
        case ApprovalDecided():
            return _decided(event)
        case RunFinished(answer=answer):
            return f"finished: {lines(answer)}"
        case RunFailed(error=error):
            return f"run failed: {one_line(error)}"
        case RunReopened():
            return "run taken on again"
        case _:
            assert_never(event)


def _of_call(event: CallBeat, tool: str) -> str | None:
    match event:
        case CallPreviewed(error=error):
            return None if error is None else f"no preview: {tool}: {one_line(error)}"
        case CallRefused(message=message):
            return f"refused: {tool}: {one_line(message)}"
        case CallLookedUp():
            return f"looked up: {tool}: it did not happen"
        case CallReturned(is_error=True, output=output):
            said = output if isinstance(output, str) else dump_text(output)
            return f"failed: {tool}: {one_line(said)}"
        case CallReturned(is_found=is_found):
            return f"done: {tool}{' (found by looking it up)' if is_found else ''}"
        case CallLeftUnknown(detail=detail):
            return f"not known: {tool}: {one_line(detail)}"
        case _:
            assert_never(event)


def _paused(event: ApprovalRequested) -> str:
    what = {"call": "approval", "question": "answer", "review": "review"}[event.approval_kind]
    again = f"; asked again because {one_line(event.again_because)}" if event.again_because else ""
    return f"PAUSED for {what} ({one_line(event.reason)}{again}), token {event.approval_id}"


def _voted(event: ApprovalVoted, state: RunState) -> str:
    approval = state.approvals[event.approval_id]
    counted = [vote.voted for vote in approval.votes if vote.voted.by not in event.not_counted]
    needed = missing(approval.requested.approvers, state.requester, counted)
    return f"{_whose(event)} vote: approve ({needed})"


def _decided(event: ApprovalDecided) -> str:
    outcome = f" ({event.outcome})" if event.outcome else ""
    return f"{_whose(event)} decision: {event.action}{outcome}"


def _whose(word: Word) -> str:
    return "human" if word.by.split(":")[0] in ("slack", "cli") else "automatic"
