"""What events about an approval amount to, for it and for its call. See ``fold`` for the theory."""

from __future__ import annotations

import dataclasses
from datetime import datetime
from decimal import Decimal
from typing import assert_never

from agent.rules.calls import Call, CallResult, CallStatus
from agent.rules.events import ApprovalDecided, ApprovalRequested, ApprovalVoted
from agent.rules.fold_calls import end_call, with_approval, with_call
from agent.rules.parts import DecisionAction, Receipt
from agent.rules.replacing import replace
from agent.rules.state import Approval, ApprovalStatus, RunState, Vote

ApprovalEvent = ApprovalRequested | ApprovalVoted | ApprovalDecided

_STATUSES: dict[DecisionAction, ApprovalStatus] = {
    "approve": "approved",
    "deny": "denied",
    "steer": "steered",
    "answer": "answered",
    "settle": "settled",
}


class CantFollow(Exception):
    """The event can't be right where it stands."""


def apply_to_approval(state: RunState, event: ApprovalEvent, at: datetime) -> RunState:
    """Raises ``KeyError`` for an approval or a call that is not known, or ``CantFollow``."""
    match event:
        case ApprovalRequested():
            return _requested(state, event, at)
        case ApprovalVoted(approval_id=approval_id):
            approval = state.approvals[approval_id]
            # One a principal: said again, when the first had grown too old, it is the newer one.
            others = (vote for vote in approval.votes if vote.voted.by != event.by)
            return with_approval(state, replace(approval, votes=(*others, Vote(event, at))))
        case ApprovalDecided():
            return _decided(state, event, at)
        case _:
            assert_never(event)


def _requested(state: RunState, event: ApprovalRequested, at: datetime) -> RunState:
    if event.approval_id in state.approvals:
        raise CantFollow(f"{event.approval_id} was requested before")
    approvals = {**state.approvals, event.approval_id: Approval(event, at, seq=state.seq + 1)}
    if event.supersedes is not None:
        old = state.approvals[event.supersedes]
        # A decided one keeps what was decided; only a pending one is replaced.
        if old.status == "pending":
            old = replace(old, status="superseded", closed_at=at)
        approvals[old.id] = replace(old, superseded_by=event.approval_id)
    state = replace(state, approvals=approvals)
    if event.call_id is None:
        return replace(state, budget_id=event.approval_id)
    call = state.call(event.call_id)
    status: CallStatus = "unknown" if event.approval_kind == "review" else "waiting"
    return with_call(state, replace(call, status=status, approval_id=event.approval_id))


def _decided(state: RunState, event: ApprovalDecided, at: datetime) -> RunState:
    approval = state.approvals[event.approval_id]
    status = _STATUSES[event.action]
    state = with_approval(
        state, replace(approval, status=status, decided=event, decided_at=at, closed_at=at)
    )
    if approval.requested.call_id is None:
        return _allowed_more(state, approval, event)
    call = state.call(approval.requested.of_call)
    match event.action:
        case "approve":
            return with_call(
                state, replace(call, status="ready", approved_id=approval.id, again_because=None)
            )
        case "deny":
            return end_call(state, call.id, CallResult("denied", event.reason, event.by), at)
        case "steer" if event.args is not None:
            steered = replace(
                call,
                status="ready",
                args=event.args,
                original_args=call.args if call.original_args is None else call.original_args,
                steered_by=event.by,
                # Whatever had a yes, it was another call.
                approved_id=None,
            )
            return with_call(state, steered)
        case "steer":
            state = _used_as_guidance(state, event.ref)
            return end_call(state, call.id, CallResult("guided", event.guidance, event.by), at)
        case "answer":
            return end_call(state, call.id, CallResult("answered", event.text, event.by), at)
        case "settle":
            return _settled(state, call, event, at)
        case _:
            assert_never(event.action)


def _used_as_guidance(state: RunState, ref: str | None) -> RunState:
    if ref is None:
        return state
    said = (
        dataclasses.replace(one, is_guidance=True) if one.ref == ref else one for one in state.said
    )
    return replace(state, said=tuple(said))


def _allowed_more(state: RunState, budget: Approval, event: ApprovalDecided) -> RunState:
    """A yes to a budget allows as much as was asked for, or as was said."""
    if event.action != "approve":
        return state
    name = str(budget.requested.args["budget"])
    more = Decimal(str((event.args or budget.requested.args)["more"]))
    allowed = state.allowances.get(name, Decimal(0)) + more
    allowances = {**state.allowances, name: allowed}
    # Whoever lets it go on over its cost does so knowing that it is not known.
    seen = state.unpriced if name == "cost_usd" else state.unpriced_allowed
    return replace(state, allowances=allowances, unpriced_allowed=seen)


def _settled(state: RunState, call: Call, event: ApprovalDecided, at: datetime) -> RunState:
    match event.outcome:
        case "happened":
            receipt = Receipt(status="committed")
            return end_call(state, call.id, CallResult("happened", None, event.by), at, receipt)
        case "not_happened":
            receipt = Receipt(status="rejected")
            return with_call(state, replace(call, status="ready", receipt=receipt))
        case "check":
            # Found started and not in flight, it is looked up again at once.
            return with_call(state, replace(call, status="started", deadline=at))
        case "give_up" | None:
            return end_call(state, call.id, CallResult("given_up", None, event.by), at)
        case _:
            assert_never(event.outcome)
