"""Where each approval stands: a projection of its run's journal, written with the event.

It is also the guard: a decision, or a vote, is appended only while the row is pending and unexpired.
"""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Connection, bindparam, insert, or_, select, text, update

from agent.rules.events import ApprovalDecided, ApprovalRequested, ApprovalVoted
from agent.rules.ids import ApprovalId, CallId, Principal, RunId
from agent.rules.interventions import ApprovalExpired
from agent.rules.parts import DecisionAction
from store import awaited
from store.now import NOW
from store.schema import approvals, runs

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
IS_OF_BEFORE = text("approvals.requester IS NULL AND approvals.status IN ('pending', 'expired')")
IS_DECIDED = text("approvals.decided_at IS NOT NULL")

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
    .values(
        status=bindparam("new_status"),
        decided_by=bindparam("new_decider", type_=approvals.c.decided_by.type),
        decided_at=bindparam("new_decided_at", type_=approvals.c.decided_at.type),
    )
)
_REQUESTER = select(runs.c.requester).where(runs.c.run_id == bindparam("of_run"))
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
    requester = Principal(connection.execute(_REQUESTER, {"of_run": run_id}).scalar_one())
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
            "requester": requester,
        },
    )
    awaited.request(connection, event, requester, at)


def hear(
    connection: Connection,
    run_id: RunId,
    word: ApprovalVoted | ApprovalDecided,
    at: datetime,
    now: datetime | None,
) -> bool:
    """True for a word that found the approval pending and not expired. A decision ends that, a vote
    does not. ``at``: of the fact."""
    is_decision = word.kind == "approval_decided"
    values = {
        "of_approval": word.approval_id,
        "of_run": run_id,
        "now": now,
        "new_status": STATUS_AFTER[word.action] if word.kind == "approval_decided" else "pending",
        "new_decider": word.by if is_decision else None,
        "new_decided_at": at if is_decision else None,
    }
    if connection.execute(_HEAR, values).rowcount != 1:
        return False
    if word.kind == "approval_decided":
        awaited.forget(connection, word.approval_id)
    else:
        awaited.vote(connection, word)
    return True


def expire(
    connection: Connection, run_id: RunId, expired: ApprovalExpired, now: datetime | None
) -> bool:
    """Nobody decided in time; False when somebody did, or still may."""
    values = {"of_approval": expired.approval_id, "of_run": run_id, "now": now}
    if connection.execute(_EXPIRE, values).rowcount != 1:
        return False
    awaited.expire(connection, expired)
    return True


def expires_at(connection: Connection, run_id: RunId, approval_id: ApprovalId) -> datetime | None:
    """When the time of this approval is over that is pending; None where it is not, or has no end."""
    values = {"of_approval": approval_id, "of_run": run_id}
    return connection.execute(_EXPIRES_AT, values).scalar_one_or_none()


def cancel_open(connection: Connection, run_id: RunId) -> None:
    """The run has ended or is to end: nothing is left to decide, but what became of an unknown effect."""
    awaited.forget_all(connection, run_id)
    connection.execute(_CANCEL, {"of_run": run_id})


def cancel_of_call(connection: Connection, run_id: RunId, call_id: CallId) -> None:
    """The call has its result: what people were still being asked about it is answered."""
    awaited.forget_call(connection, run_id, call_id)
    connection.execute(_CANCEL_OF_CALL, {"of_run": run_id, "of_call": call_id})
