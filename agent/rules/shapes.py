"""Runs and approvals as other programs see them: the same over HTTP and with ``--json``."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from agent.rules.calls import Call
from agent.rules.exact import plus
from agent.rules.secrets import hide_secrets
from agent.rules.state import Approval, RunState
from agent.rules.steps import Step, Suspend, next_step
from agent.rules.undecided import is_to_be_asked_again
from agent.rules.waiting import waited


def show_time(at: datetime | None) -> str | None:
    """RFC 3339 in UTC."""
    return (
        None
        if at is None
        else at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    )


def status_of(state: RunState, now: datetime) -> str:
    """``running``, ``waiting``, ``finished``, ``failed`` or ``cancelled``."""
    return _status(state, step_from_outside(state, now))


def run_shape(
    state: RunState,
    *,
    now: datetime,
    holder: str | None = None,
    blocked: dict[str, str] | None = None,
    thread: str | None = None,
) -> dict[str, Any]:
    """One run. ``blocked`` (``code``, ``message``, ``fix``) says why nobody here can take it on; ``thread``
    is a link to where it is shown."""
    step = step_from_outside(state, now)
    status = "blocked" if blocked and not state.is_ended else _status(state, step)
    return {
        "id": state.run_id,
        "agent": state.agent,
        "session": state.session,
        "prompt": state.prompt,
        "requester": state.requester,
        "status": status,
        "waiting_for": step.waiting_for if isinstance(step, Suspend) else None,
        "blocked": blocked if status == "blocked" else None,
        "next_step": None if state.is_ended else _snake(type(step).__name__),
        "state_version": state.seq,
        "holder": holder,
        "answer": state.answer,
        "error": state.error,
        "approvals": [
            approval.id
            for approval in state.approvals.values()
            if approval.status == "pending" or is_to_be_asked_again(state, approval)
        ],
        "calls": [_call_shape(call, state) for call in state.calls.values()],
        "usage": {
            "model_calls": state.model_calls,
            "input_tokens": state.input_tokens,
            "output_tokens": state.output_tokens,
            # Null: not all of it is known.
            "cost_usd": None if state.unpriced else float(state.cost_usd),
        },
        "started_at": show_time(state.started_at),
        "updated_at": show_time(state.updated_at),
        "ended_at": show_time(state.ended_at),
        "waited_seconds": waited(state, now).total_seconds(),
        "thread": thread,
        **_said_where_so(dry_run=state.is_dry_run),
    }


def approval_shape(approval: Approval, state: RunState) -> dict[str, Any]:
    """One approval of the run in ``state``, with masks in place of secrets."""
    asked, decided = approval.requested, approval.decided
    call = state.calls.get(asked.call_id) if asked.call_id else None
    schema = call.parameters if call else {}
    return {
        "id": approval.id,
        "group": asked.group,
        "run_id": state.run_id,
        "call_id": asked.call_id,
        "kind": approval.kind,
        "tool": asked.tool,
        "title": asked.title,
        "args": hide_secrets(asked.args, schema),
        "preview": asked.preview,
        "reason": asked.reason,
        "rule": asked.rule,
        "policy_version": asked.policy_version,
        "hash": asked.hash,
        "status": approval.status,
        "may_decide": approval.approvers.model_dump(mode="json"),
        "votes": [
            {
                "by": word.by,
                "claimed_by": word.claimed_by,
                "at": show_time(at),
                "note": word.note,
            }
            for word, at in approval.yeses
        ],
        "requested_at": show_time(approval.requested_at),
        "expires_at": show_time(asked.expires_at),
        "again_because": asked.again_because,
        "decision": None
        if decided is None
        else {
            "action": decided.action,
            "by": decided.by,
            "claimed_by": decided.claimed_by,
            "at": show_time(approval.decided_at),
            "reason": decided.reason,
            "note": decided.note,
            "args": None if decided.args is None else hide_secrets(decided.args, schema),
            "guidance": decided.guidance,
            "text": decided.text,
            "outcome": decided.outcome,
            "grant": decided.grant,
        },
        **_said_where_so(dry_run=asked.dry_run),
        **_limit_shape(call),
        **_tainted(call),
    }


def _limit_shape(call: Call | None) -> dict[str, Any]:
    """How much of its rule's limit was used when it was judged last, where it has one. Amounts are text, so that no
    digit is lost."""
    use = call.verdict.limit if call and call.verdict else None
    if use is None:
        return {}
    left = max(plus(use.max, -use.used), Decimal(0))
    return {
        "limit": {
            "sum": use.what,
            "currency": use.currency,
            "per": list(use.per),
            "zone": use.zone,
            "used": format(use.used, "f"),
            "amount": format(use.amount, "f"),
            "max": format(use.max, "f"),
            "left": format(left, "f"),
            "is_over": use.is_over,
            "resets_at": show_time(use.until),
        }
    }


def step_from_outside(state: RunState, now: datetime) -> Step:
    """Whoever looks on can't see what is in flight: a started call is, until its deadline."""
    in_flight = {
        call.id
        for call in state.open_calls
        if call.status == "started" and call.deadline is not None and now < call.deadline
    }
    return next_step(state, now, in_flight)


def _status(state: RunState, step: Step) -> str:
    if state.ending is not None:
        return state.ending
    return "waiting" if isinstance(step, Suspend) else "running"


def call_status(call: Call, state: RunState) -> str:
    """How far it is, or how it ended. What a stopped run had not begun is ``cancelled`` with it."""
    if call.result is not None:
        return call.result.outcome
    is_dropped = state.ending == "cancelled" and not call.may_have_happened
    return "cancelled" if is_dropped else call.status


def _call_shape(call: Call, state: RunState) -> dict[str, Any]:
    receipt = call.receipt
    return {
        "call_id": call.id,
        "operation_id": call.operation_id,
        "tool": call.tool,
        "status": call_status(call, state),
        "attempts": call.attempts,
        "receipt": None
        if receipt is None
        else {
            "status": receipt.status,
            "external_id": receipt.external_id,
            **_said_where_so(dry_run=receipt.dry_run),
        },
    }


def _said_where_so(*, dry_run: bool) -> dict[str, Any]:
    """A key beyond the agreed ones, for those whom it concerns."""
    return {"dry_run": True} if dry_run else {}


def _tainted(call: Call | None) -> dict[str, Any]:
    """The same of what had been read before it was proposed."""
    taints = call.verdict.tainted_by if call and call.verdict else ()
    if not taints:
        return {}
    return {"tainted_by": [one.model_dump(mode="json") for one in taints]}


def _snake(name: str) -> str:
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in name).lstrip("_")
