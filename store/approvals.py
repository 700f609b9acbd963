"""Where each approval stands: a projection of its run's journal, written with the event.

It is also the guard: a decision, or a vote, is appended only while the row is pending and unexpired.
"""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Connection, bindparam, insert, or_, select, text, update

from agent.rules.events import ApprovalDecided, ApprovalRequested, ApprovalVoted
from agent.rules.ids import ApprovalId, CallId, RunId
from agent.rules.parts import DecisionAction
from store.now import NOW
from store.schema import approvals

STATUS_AFTER: dict[DecisionAction, str] = {
    "approve": "approved",
    "deny": "denied",
    "steer": "steered",
    "answer": "answered",
    "settle": "settled",
}

# A literal: with a bound value a database can't know that the partial index serves.
IS_PENDING = text("approvals.status = 'pending'")
IS_EXPIRED = text("approvals.status = 'expired'")

_INSERT = insert(approvals)
_SUPERSEDE = (
    update(approvals)
    .where(approvals.c.approval_id == bindparam("of_approval"), IS_PENDING)
    .values(status="superseded")
)
_HEAR = (
    update(approvals)
    .where(
        approvals.c.approval_id == bindparam("of_approval"),
        approvals.c.run_id == bindparam("of_run"),
        IS_PENDING,
        or_(
            approvals.c.expires_at.is_(None),
            approvals.c.expires_at > NOW,
        ),
    )
    .values(status=bindparam("new_status"))
)
_EXPIRE = (
    update(approvals)
    .where(
        approvals.c.approval_id == bindparam("of_approval"),
        approvals.c.run_id == bindparam("of_run"),
        IS_PENDING,
        approvals.c.expires_at <= NOW,
    )
    .values(status="expired")
)
_EXPIRES_AT = select(approvals.c.expires_at).where(
    approvals.c.approval_id == bindparam("of_approval"),
    approvals.c.run_id == bindparam("of_run"),
    IS_PENDING,
)
_CANCEL = (
    update(approvals)
    .where(approvals.c.run_id == bindparam("of_run"), IS_PENDING, approvals.c.kind != "review")
    .values(status="cancelled")
)
_CANCEL_OF_CALL = (
    update(approvals)
    .where(
        approvals.c.run_id == bindparam("of_run"),
        approvals.c.call_id == bindparam("of_call"),
        IS_PENDING,
    )
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
            "call_id": event.call_id or "",
            "kind": event.approval_kind,
            "status": "pending",
            "requested_at": at,
            "expires_at": event.expires_at,
        },
    )


def hear(
    connection: Connection,
    run_id: RunId,
    word: ApprovalVoted | ApprovalDecided,
    now: datetime | None,
) -> bool:
    """True for a word that found the approval pending and not expired. A decision ends that, a vote
    does not."""
    values = {
        "of_approval": word.approval_id,
        "of_run": run_id,
        "now": now,
        "new_status": STATUS_AFTER[word.action] if word.kind == "approval_decided" else "pending",
    }
    return connection.execute(_HEAR, values).rowcount == 1


def expire(
    connection: Connection, run_id: RunId, approval_id: ApprovalId, now: datetime | None
) -> bool:
    """Nobody decided in time; False when somebody did, or still may."""
    values = {"of_approval": approval_id, "of_run": run_id, "now": now}
    return connection.execute(_EXPIRE, values).rowcount == 1


def expires_at(connection: Connection, run_id: RunId, approval_id: ApprovalId) -> datetime | None:
    """When the time of this approval is over that is pending; None where it is not, or has no end."""
    values = {"of_approval": approval_id, "of_run": run_id}
    return connection.execute(_EXPIRES_AT, values).scalar_one_or_none()


def cancel_open(connection: Connection, run_id: RunId) -> None:
    """The run has ended or is to end: nothing is left to decide, but what became of an unknown effect."""
    connection.execute(_CANCEL, {"of_run": run_id})


def cancel_of_call(connection: Connection, run_id: RunId, call_id: CallId) -> None:
    """The call has its result: what people were still being asked about it is answered."""
    connection.execute(_CANCEL_OF_CALL, {"of_run": run_id, "of_call": call_id})
