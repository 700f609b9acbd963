"""What ``watch`` says of each event: the beats of a run's story. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import assert_never

from agent.rules.budgets import Reached
from agent.rules.consent import missing
from agent.rules.events import (
    ApprovalDecided,
    ApprovalRequested,
    ApprovalVoted,
    CallJudged,
    CallLeftUnknown,
    CallLookedUp,
    CallPreviewed,
    CallProgressed,
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
)
from agent.rules.interventions import (
    ApprovalAskedAgain,
    ApprovalEscalated,
    ApprovalExpired,
    ApprovalReminded,
    BudgetReached,
    HaltsChanged,
    HistoryTaken,
    InterventionEvent,
    MessageDeleted,
    MessageEdited,
    MessageReceived,
    RunCancelled,
    RunHeld,
    RunResumed,
    SessionContinued,
    StopRequested,
)
from agent.rules.json_text import dump_text
from agent.rules.long_conversations import (
    ConversationEvent,
    ConversationShortened,
    ConversationSummarised,
)
from agent.rules.parts import OnExpiry, Word
from agent.rules.recorded import Recorded
from agent.rules.state import RunState
from bot.cli.halted import halts_in_words
from bot.cli.names import outcome_of
from bot.cli.plain import lines, one_line, reason_in_short

CallBeat = (
    CallPreviewed | CallProgressed | CallRefused | CallLookedUp | CallReturned | CallLeftUnknown
)


def beat(recorded: Recorded, state: RunState) -> str | None:
    """The line for this event, ``state`` being that after it; None where there is nothing to say."""
    event: Event = recorded.event
    match event:
        case RunStarted(dry_run=dry_run):
            return "run started (dry run: nothing is carried out)" if dry_run else "run started"
        case CallStarted(call_id=call_id, grant=grant) if grant is not None:
            return f"allowed: {one_line(state.call(call_id).tool)} (under {grant})"
        case ModelReplied() | CallJudged() | CallStarted():
            return None
        case ModelFailed(error=error, retry_at=retry_at):
            again = "" if retry_at is None else f"; asked again at {retry_at:%H:%M:%S} UTC"
            return f"no answer from the model: {one_line(error)}{again}"
        case (
            CallPreviewed()
            | CallProgressed()
            | CallRefused()
            | CallLookedUp()
            | CallReturned()
            | CallLeftUnknown()
        ):
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
            return f"run failed: {one_line(error)}{_unheard(state)}"
        case RunReopened():
            return "run taken on again"
        case ConversationShortened() | ConversationSummarised():
            return _of_conversation(event)
        case _:
            return _of_intervention(event, state)


def _of_message(event: MessageReceived | MessageEdited | MessageDeleted) -> str:
    by = one_line(event.by)
    match event:
        case MessageReceived(text=text):
            return f"message from {by}: {one_line(text)}"
        case MessageEdited(text=text):
            return f"message of {by} edited: {one_line(text)}"
        case MessageDeleted():
            return f"message of {by} deleted"


def _of_intervention(event: InterventionEvent, state: RunState) -> str | None:
    match event:
        case MessageReceived() | MessageEdited() | MessageDeleted():
            return _of_message(event)
        case RunHeld(by=by, reason=reason):
            return f"HELD by {one_line(by)}{_because(reason)}"
        case RunResumed(by=by):
            return f"resumed by {one_line(by)}"
        case HaltsChanged(halts=halts):
            return halts_in_words(halts)
        case StopRequested(by=by, reason=reason):
            return f"to be stopped by {one_line(by)}{_because(reason)}"
        case RunCancelled():
            return f"stopped{_unheard(state)}"
        case ApprovalExpired(approval_id=approval_id, then=then):
            return f"nobody decided in time: {approval_id}; {_THEN[then]}"
        case ApprovalReminded(approval_id=approval_id):
            return f"people are reminded of {approval_id}"
        case ApprovalEscalated(approval_id=approval_id, stage=stage):
            reached = state.approvals[approval_id].requested.patience.escalate[stage - 1]
            others = one_line(", ".join((*reached.groups, *reached.users)))
            return f"asked as well: {others} may decide {approval_id} too"
        case ApprovalAskedAgain(approval_id=approval_id, by=by):
            return f"to be asked again, says {one_line(by)}: {approval_id}"
        case BudgetReached(budget=budget, used=used, limit=limit):
            used_up = Reached(budget, Decimal(used), Decimal(limit))
            return f"budget used up: {used_up.in_words}"
        case HistoryTaken(of_run=of_run, up_to=up_to):
            return f"goes on from {of_run} at {up_to}"
        case SessionContinued(of_run=of_run):
            return f"goes on with the conversation of {of_run}"
        case _:
            assert_never(event)


def _of_conversation(event: ConversationEvent) -> str | None:
    match event:
        case ConversationShortened(summing=None):
            return "told to the model in short: what tools answered, and files"
        case ConversationShortened():
            return "the conversation is long: the model sums up what was before"
        case ConversationSummarised(summary=summary):
            return f"summed up: {one_line(summary.text)}"
        case _:
            assert_never(event)


_THEN: Mapping[OnExpiry, str] = {
    "wait": "the run waits until it is asked again",
    "deny": "the agent is told",
    "stop": "the run is stopped",
    "escalate": "others are asked",
}


def _unheard(state: RunState) -> str:
    """Whoever said something to it is to know that it was in vain."""
    if not state.unseen:
        return ""
    return f"; not heard: {len(state.unseen)} of the messages (the next run of its session is told)"


def _because(reason: str | None) -> str:
    return f": {reason_in_short(reason)}" if reason else ""


def _of_call(event: CallBeat, tool: str) -> str | None:
    match event:
        case CallPreviewed(error=error):
            return None if error is None else f"no preview: {tool}: {one_line(error)}"
        case CallRefused(code="dry_run"):
            return f"dry run: {tool}: not carried out"
        case CallProgressed(text=text):
            return f"running: {tool}: {one_line(text)}"
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
    what = {
        "call": "approval",
        "question": "answer",
        "review": "review",
        "budget": "budget",
    }[event.approval_kind]
    again = f"; asked again because {one_line(event.again_because)}" if event.again_because else ""
    dry = "; dry run" if event.dry_run else ""
    return f"PAUSED for {what} ({one_line(event.reason)}{again}{dry}), token {event.approval_id}"


def _voted(event: ApprovalVoted, state: RunState) -> str:
    approval = state.approvals[event.approval_id]
    counted = [vote.voted for vote in approval.votes if vote.voted.by not in event.not_counted]
    needed = missing(approval.approvers, state.requesters, counted)
    return f"{_whose(event)} vote: approve ({needed})"


def _decided(event: ApprovalDecided) -> str:
    outcome = f" ({outcome_of(event.outcome)})" if event.outcome else ""
    return f"{_whose(event)} decision: {event.action}{outcome}"


def _whose(word: Word) -> str:
    return "human" if word.by.split(":")[0] in ("slack", "cli") else "automatic"
