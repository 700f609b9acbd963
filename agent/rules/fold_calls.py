"""What events about a call amount to. See ``fold`` for the theory."""

from __future__ import annotations

from datetime import datetime
from typing import assert_never

from agent.rules.calls import Call, CallResult
from agent.rules.events import (
    CallJudged,
    CallLeftUnknown,
    CallLookedUp,
    CallPreviewed,
    CallRefused,
    CallReturned,
    CallStarted,
)
from agent.rules.ids import CallId
from agent.rules.parts import Receipt
from agent.rules.replacing import replace
from agent.rules.reservations import held_after_start
from agent.rules.state import Approval, RunState

CallEvent = (
    CallJudged
    | CallPreviewed
    | CallRefused
    | CallStarted
    | CallLookedUp
    | CallReturned
    | CallLeftUnknown
)

_CHANGED = "what it would do has changed since it was approved"
_UNSAID = "what it would do can no longer be said"


_REJECTED = Receipt(status="rejected")


def apply_to_call(state: RunState, event: CallEvent, at: datetime) -> RunState:
    """Raises ``KeyError`` for a call that was never proposed."""
    call = state.call(event.call_id)
    match event:
        case CallJudged():
            return with_call(state, _judged(call, event))
        case CallPreviewed():
            return with_call(state, _previewed(state, call, event, at))
        case CallRefused(message=message):
            return end_call(state, call.id, CallResult("refused", message), at)
        case CallStarted():
            return with_call(state, _started(call, event, at))
        case CallLookedUp():
            return with_call(state, replace(call, status="ready", receipt=_REJECTED))
        case CallReturned(is_error=is_error, output=output, receipt=receipt):
            is_answer = is_error and receipt is not None and receipt.status == "committed"
            result = CallResult("error" if is_error else "ok", output, is_answer=is_answer)
            return end_call(state, call.id, result, at, receipt)
        case CallLeftUnknown(detail=detail, can_be_checked=can_be_checked):
            unknown = replace(
                call,
                status="unknown",
                detail=detail,
                can_be_checked=can_be_checked,
                receipt=Receipt(status="unknown"),
            )
            return with_call(state, unknown)
        case _:
            assert_never(event)


def _judged(call: Call, event: CallJudged) -> Call:
    return replace(
        call,
        status="ready" if event.verdict.action == "allow" and not event.is_question else "asking",
        title=event.title,
        effect=event.effect,
        args=event.args,
        parameters=event.parameters,
        schema_digest=event.schema_digest,
        verdict=event.verdict,
        can_preview=event.can_preview,
        preview_must_match=event.preview_must_match,
        is_question=event.is_question,
        stage=call.stage_under(event.verdict),
        again_because=event.again_because,
        # What was said of other arguments, or by another tool, is said no more.
        preview=None,
        preview_error=None,
        previewed_at=None,
        rechecked_at=None,
    )


def _started(call: Call, event: CallStarted, at: datetime) -> Call:
    was_given_back = call.receipt is not None and call.receipt.status == "rejected"
    return replace(
        call,
        status="started",
        attempts=event.attempt,
        started_at=at,
        deadline=event.deadline,
        effect=event.effect or call.effect,
        reserved=held_after_start({} if was_given_back else call.reserved, event.reserves),
        receipt=None,
    )


def _previewed(state: RunState, call: Call, event: CallPreviewed, at: datetime) -> Call:
    said = replace(call, preview=event.preview, preview_error=event.error, previewed_at=at)
    approved = state.approvals.get(call.approved_id) if call.approved_id else None
    if call.status != "ready" or approved is None:
        return said
    if approved.requested.preview == event.preview:
        return replace(call, rechecked_at=at)
    changes = call.preview_changes + 1
    why = _CHANGED if event.error is None else _UNSAID
    return replace(said, status="asking", preview_changes=changes, again_because=why)


def end_call(
    state: RunState,
    call_id: CallId,
    result: CallResult,
    at: datetime,
    receipt: Receipt | None = None,
) -> RunState:
    """The first result is the one; what is known of the effect may still become more. What people
    were still being asked about the call has nothing left to decide."""
    call = state.call(call_id)
    if call.status == "ended":
        is_news = call.receipt is None or call.receipt.status == "unknown"
        if not (receipt and is_news and call.result):
            return state
        first = call.result
        said = CallResult(first.outcome, first.output, first.by, is_answer=result.is_answer)
        return with_call(state, replace(call, receipt=receipt, result=said))
    state = with_call(
        state,
        replace(call, status="ended", result=result, ended_at=at, receipt=receipt or call.receipt),
    )
    asked = state.approvals.get(call.approval_id) if call.approval_id else None
    if asked is None or asked.status != "pending":
        return state
    return with_approval(state, replace(asked, status="cancelled", closed_at=at))


def with_call(state: RunState, call: Call) -> RunState:
    if call.id in state.current:
        return replace(state, current={**state.current, call.id: call})
    return replace(state, earlier={**state.earlier, call.id: call})


def with_approval(state: RunState, approval: Approval) -> RunState:
    return replace(state, approvals={**state.approvals, approval.id: approval})
