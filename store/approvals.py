"""Where each approval stands: a projection of its run's journal, written with the event.

It is also the guard: a decision is appended only by whoever turns a pending, unexpired row.
"""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Connection, bindparam, insert, or_, text, update

from agent.rules.events import ApprovalDecided, ApprovalRequested, DecisionAction
from agent.rules.ids import RunId
from store.instants import Instant
from store.schema import approvals

STATUS_AFTER: dict[DecisionAction, str] = {
    "approve": "approved",
    "deny": "denied",
    "steer": "steered",
    "settle": "settled",
}

# A literal: with a bound value a database can't know that the partial index serves.
IS_PENDING = text("approvals.status = 'pending'")

_INSERT = insert(approvals)
_SUPERSEDE = (
    update(approvals)
    .where(approvals.c.approval_id == bindparam("of_approval"), IS_PENDING)
    .values(status="superseded")
)
_DECIDE = (
    update(approvals)
    .where(
        approvals.c.approval_id == bindparam("of_approval"),
        approvals.c.run_id == bindparam("of_run"),
        IS_PENDING,
        or_(
            approvals.c.expires_at.is_(None),
            approvals.c.expires_at > bindparam("now", type_=Instant),
        ),
    )
    .values(status=bindparam("new_status"))
)
_CANCEL = (
    update(approvals)
    .where(approvals.c.run_id == bindparam("of_run"), IS_PENDING, approvals.c.kind == "call")
    .values(status="cancelled")
)


def request(connection: Connection, run_id: RunId, event: ApprovalRequested, at: datetime) -> None:
    """A new question; the one that it supersedes is no longer open."""
    if event.supersedes is not None:
        connection.execute(_SUPERSEDE, {"of_approval": event.supersedes})
    connection.execute(
        _INSERT,
        {
            "approval_id": event.approval_id,
            "run_id": run_id,
            "call_id": event.call_id,
            "kind": event.approval_kind,
            "status": "pending",
            "requested_at": at,
            "expires_at": event.expires_at,
        },
    )


def decide(connection: Connection, run_id: RunId, event: ApprovalDecided, now: datetime) -> bool:
    """True for the one decision that found the approval pending and not expired."""
    values = {
        "of_approval": event.approval_id,
        "of_run": run_id,
        "now": now,
        "new_status": STATUS_AFTER[event.action],
    }
    return connection.execute(_DECIDE, values).rowcount == 1


def cancel_calls(connection: Connection, run_id: RunId) -> None:
    """The run has ended: nothing is left to decide, but what became of an unknown effect."""
    connection.execute(_CANCEL, {"of_run": run_id})
