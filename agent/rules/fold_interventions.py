"""What people and time did to a run, and what that amounts to. See ``fold`` for the theory."""

from __future__ import annotations

from datetime import datetime
from typing import assert_never

from agent.rules.calls import Call, CallResult
from agent.rules.fold_approvals import CantFollow
from agent.rules.fold_calls import end_call, with_approval, with_call
from agent.rules.fold_messages import rewrite, told
from agent.rules.ids import GroupId
from agent.rules.interventions import (
    ApprovalAskedAgain,
    ApprovalEscalated,
    ApprovalExpired,
    ApprovalReminded,
    BudgetReached,
    HaltsChanged,
    HistoryTaken,
    MessageDeleted,
    MessageEdited,
    MessageReceived,
    RunHeld,
    RunResumed,
    SessionContinued,
    StopRequested,
    TakenCall,
)
from agent.rules.parts import Halt, Words
from agent.rules.replacing import replace
from agent.rules.state import Approval, LastingWord, Reply, RunState, Said

Intervened = (
    MessageReceived
    | MessageEdited
    | MessageDeleted
    | RunHeld
    | RunResumed
    | HaltsChanged
    | StopRequested
    | ApprovalExpired
    | ApprovalReminded
    | ApprovalEscalated
    | ApprovalAskedAgain
    | BudgetReached
    | HistoryTaken
    | SessionContinued
)

_SILENCE = "nobody decided in time"


def apply_intervention(state: RunState, event: Intervened, at: datetime) -> RunState:
    """Raises ``KeyError`` for an approval that is not known, or ``CantFollow``."""
    match event:
        case MessageReceived(by=by, text=text, ref=ref, quoted=quoted, files=files):
            said = Said(
                state.seq + 1,
                at,
                by,
                text,
                ref,
                quoted,
                files,
                is_handed_on=event.is_handed_on,
                as_of=event.as_of,
            )
            return told(state, said)
        case MessageEdited() | MessageDeleted():
            return rewrite(state, event, at)
        case RunHeld(by=by, reason=reason):
            return replace(state, held=LastingWord(by, at, reason))
        case RunResumed():
            if state.held is None:
                raise CantFollow("the run was not held")
            return replace(state, held=None, holds=(*state.holds, (state.held.at, at)))
        case HaltsChanged(halts=halts):
            return with_halts(state, halts, at)
        case StopRequested(by=by, reason=reason):
            closed = with_halts(close_questions(state, at), (), at)
            return replace(closed, stop=LastingWord(by, at, reason))
        case ApprovalExpired():
            return _expired(state, state.approvals[event.approval_id], event, at)
        case ApprovalReminded(approval_id=approval_id, number=number):
            return with_approval(state, replace(state.approvals[approval_id], reminders=number))
        case ApprovalEscalated(approval_id=approval_id, stage=stage):
            return _escalated(state, state.approvals[approval_id], stage)
        case ApprovalAskedAgain(approval_id=approval_id):
            wanted = replace(state.approvals[approval_id], asked_again_at=at)
            return _ask_again(with_approval(state, wanted), wanted)
        case BudgetReached():
            return state
        case HistoryTaken():
            return _taken(state, event, at)
        case SessionContinued():
            return replace(state, past=event)
        case _:
            assert_never(event)


def with_halts(state: RunState, halts: tuple[Halt, ...], at: datetime) -> RunState:
    """From now on these, and nothing else, keep it from going on. Raises ``KeyError`` for a call that is not known."""
    for call_id in (id for halt in halts for id in halt.call_ids):
        state.call(call_id)
    if bool(halts) == bool(state.halts):
        return replace(state, halts=halts)
    if halts:
        return replace(state, halts=halts, halted_at=at)
    assert state.halted_at is not None, "it was said when it began to be halted"
    halted = (*state.haltings, (state.halted_at, at))
    return replace(state, halts=(), halted_at=None, haltings=halted)


def close_questions(state: RunState, at: datetime) -> RunState:
    """What was pending has nothing left to decide; what became of an unknown effect still can be said."""
    approvals = {
        id: replace(approval, status="cancelled", closed_at=at)
        if approval.status == "pending" and approval.kind != "review"
        else approval
        for id, approval in state.approvals.items()
    }
    return replace(state, approvals=approvals)


def _expired(state: RunState, approval: Approval, event: ApprovalExpired, at: datetime) -> RunState:
    state = with_approval(state, replace(approval, status="expired", closed_at=at))
    if approval.requested.call_id is None:
        return state
    match event.then:
        case "deny":
            return end_call(state, approval.requested.of_call, CallResult("expired", None), at)
        case "escalate":
            return _ask_again(state, state.approvals[approval.id], is_escalated=True)
        case "wait" | "stop":
            return state
        case _:
            assert_never(event.then)


def _escalated(state: RunState, approval: Approval, stage: int) -> RunState:
    state = with_approval(state, replace(approval, stage=stage))
    if approval.requested.call_id is None:
        return state
    call = state.call(approval.requested.of_call)
    return with_call(state, replace(call, stage=call.stage + 1))


def _ask_again(state: RunState, approval: Approval, *, is_escalated: bool = False) -> RunState:
    """The call is asked about once more, of others too if it ``is_escalated``; what is about no call is
    asked by itself."""
    if approval.requested.call_id is None:
        return replace(state, budget_id=None)
    call = state.call(approval.requested.of_call)
    if call.status != "waiting":
        return state
    asking = replace(
        call,
        status="asking",
        previewed_at=None,
        again_because=_SILENCE,
        stage=call.stage + is_escalated,
    )
    return with_call(state, asking)


def _taken(state: RunState, event: HistoryTaken, at: datetime) -> RunState:
    """Replies and calls as they were: whatever they did is past, and what was not begun is proposed anew."""
    seq = state.seq + 1
    replies = tuple(
        Reply(
            turn.text,
            tuple(taken.proposed.call_id for taken in turn.calls),
            seq,
            GroupId(f"grp_{state.run_id}_{number}"),
            turn.words or tuple(Words(text=text) for text in turn.said),
            turn.provider,
        )
        for number, turn in enumerate(event.turns)
    )
    turns = [
        {taken.proposed.call_id: _taken_call(taken, at) for taken in turn.calls}
        for turn in event.turns
    ]
    return replace(
        state,
        replies=(*state.replies, *replies),
        current=turns[-1] if turns else {},
        earlier={id: call for turn in turns[:-1] for id, call in turn.items()},
        replies_before=len(state.replies) + len(replies),
        taken_from=(event.of_run, event.up_to),
        forked_by=event.forked_by,
        summary=event.summary,
        summarised=event.summarised,
    )


def _taken_call(taken: TakenCall, at: datetime) -> Call:
    if taken.outcome is None:
        return Call(taken.proposed)
    return Call(
        taken.proposed,
        status="ended",
        title=taken.title,
        effect=taken.effect,
        args=taken.args,
        attempts=taken.attempts,
        ended_at=at,
        receipt=taken.receipt,
        result=CallResult(taken.outcome, taken.output),
        told=taken.told,
    )
