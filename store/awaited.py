"""For whom each question waits: found by the person, however many questions there are for others.

A row says why a question is somebody's: they are named for it, or a group of theirs is, or they asked for its
run. Those whom an escalation names have their rows from the start, for it is the question's own row that says
how far it has come. ``barred`` says the opposite: whoever else they are, it is not theirs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Connection, and_, bindparam, delete, insert, select, text, update

from agent.rules.events import ApprovalRequested, ApprovalVoted
from agent.rules.ids import ApprovalId, CallId, Principal, RunId
from agent.rules.interventions import ApprovalEscalated, ApprovalExpired
from agent.rules.state import Approval, RunState
from agent.rules.undecided import is_to_be_asked_again
from store.schema import approvals, awaited

_OF_APPROVAL = awaited.c.approval_id == bindparam("of_approval")
_IS_OF_RUN = approvals.c.run_id == bindparam("of_run")
# A literal, as in ``store.approvals``.
_IS_OPEN_REVIEW = and_(text("approvals.kind = 'review'"), text("approvals.status = 'pending'"))

_INSERT = insert(awaited)
_FORGET = delete(awaited).where(_OF_APPROVAL)
_FORGET_ONE = _FORGET.where(
    awaited.c.kind == bindparam("of_kind"), awaited.c.name == bindparam("of_name")
)
_FORGET_ALL_OF_RUN = delete(awaited).where(
    awaited.c.approval_id.in_(select(approvals.c.approval_id).where(_IS_OF_RUN, ~_IS_OPEN_REVIEW))
)
_FORGET_CALL = delete(awaited).where(
    awaited.c.approval_id.in_(
        select(approvals.c.approval_id).where(
            _IS_OF_RUN, approvals.c.call_id == bindparam("of_call")
        )
    )
)
_FORGET_BY_PRINCIPAL = _FORGET.where(text("awaited.kind IN ('barred', 'principal')"))
_ASKER = select(approvals.c.kind, approvals.c.requester, approvals.c.requested_at).where(
    approvals.c.approval_id == bindparam("of_approval"), approvals.c.requester.is_not(None)
)
_REACH = (
    update(approvals)
    .where(approvals.c.approval_id == bindparam("of_approval"))
    .values(stage=bindparam("new_stage"))
)
ROWS_OF_RUN = (
    select(awaited.c.approval_id, awaited.c.kind, awaited.c.name, awaited.c.stage)
    .join(approvals, approvals.c.approval_id == awaited.c.approval_id)
    .where(_IS_OF_RUN)
)


class Row(NamedTuple):
    """Why a question is somebody's, or not, from an escalation on; 0: from the start."""

    kind: str
    name: str
    stage: int = 0


def rows_of(requested: ApprovalRequested, requester: Principal) -> Iterable[Row]:
    """Of a question that has just been asked: each once, from when it first holds."""
    first: dict[tuple[str, str], int] = {}
    for stage, asked in enumerate(_asked(requested)):
        for who in asked:
            first.setdefault(who, stage)
    yield from (Row(kind, name, stage) for (kind, name), stage in first.items())
    if requested.approval_kind == "question":
        yield Row("principal", requester)
    elif not requested.approvers.requester:
        yield Row("barred", requester)


def _asked(requested: ApprovalRequested) -> Iterator[list[tuple[str, str]]]:
    """Who may decide, and who else may from each escalation on."""
    yield _named(requested.approvers.users, requested.approvers.all_groups)
    yield from (_named(one.users, one.groups) for one in requested.patience.escalate)


def _named(users: Iterable[str], groups: Iterable[str]) -> list[tuple[str, str]]:
    return [("user", one) for one in users] + [("group", one) for one in groups]


def rows_now(state: RunState, approval: Approval) -> frozenset[Row]:
    """Of a question as it stands: none, where it waits for nobody."""
    rows = frozenset(rows_of(approval.requested, state.requester))
    if approval.status == "pending":
        said_yes = (vote.voted.by for vote in approval.votes)
        counted_no_more = _counted_no_more(approval)
        return rows | {Row("barred", by) for by in said_yes if by not in counted_no_more}
    if not is_to_be_asked_again(state, approval):
        return frozenset()
    return frozenset(row for row in rows if row.kind in ("user", "group")) | {
        Row("principal", state.requester)
    }


def _counted_no_more(approval: Approval) -> tuple[Principal, ...]:
    return approval.votes[-1].voted.not_counted if approval.votes else ()


def request(
    connection: Connection, requested: ApprovalRequested, requester: Principal, at: datetime
) -> None:
    """It waits from now on; what it follows does so no more."""
    if requested.supersedes is not None:
        forget(connection, requested.supersedes)
    write(connection, requested.approval_id, at, rows_of(requested, requester))


def write(
    connection: Connection, approval_id: ApprovalId | str, at: datetime, rows: Iterable[Row]
) -> None:
    """The rows of a question that has none."""
    values = [
        {"approval_id": approval_id, "requested_at": at, **one._asdict()} for one in set(rows)
    ]
    if values:
        connection.execute(_INSERT, values)


def vote(connection: Connection, voted: ApprovalVoted) -> None:
    """Whoever said yes is waited for no more; those whose yes counts no more, again."""
    asker = connection.execute(_ASKER, {"of_approval": voted.approval_id}).one_or_none()
    if asker is None:
        return  # an older build's row: it is made whole by whoever works the run
    for name in (*voted.not_counted, voted.by):
        values = {"of_approval": voted.approval_id, "of_kind": "barred", "of_name": name}
        connection.execute(_FORGET_ONE, values)
    if voted.by not in voted.not_counted:
        write(connection, voted.approval_id, asker.requested_at, [Row("barred", voted.by)])


def escalate(connection: Connection, escalated: ApprovalEscalated) -> None:
    """It waits for those of this escalation as well."""
    values = {"of_approval": escalated.approval_id, "new_stage": escalated.stage}
    connection.execute(_REACH, values)


def expire(connection: Connection, expired: ApprovalExpired) -> None:
    """It waits for somebody to have it asked again, unless the rule says what silence means."""
    values = {"of_approval": expired.approval_id}
    asker = connection.execute(_ASKER, values).one_or_none()
    if asker is None:
        return  # as for a vote
    if expired.then in ("deny", "escalate") and asker.kind != "budget":
        forget(connection, expired.approval_id)
        return
    connection.execute(_FORGET_BY_PRINCIPAL, values)
    row = Row("principal", asker.requester)
    write(connection, expired.approval_id, asker.requested_at, [row])


def forget(connection: Connection, approval_id: ApprovalId | str) -> None:
    """It waits for nobody any more."""
    connection.execute(_FORGET, {"of_approval": approval_id})


def forget_all(connection: Connection, run_id: RunId) -> None:
    """The run ends: nothing of it waits but what became of an unknown effect."""
    connection.execute(_FORGET_ALL_OF_RUN, {"of_run": run_id})


def forget_call(connection: Connection, run_id: RunId, call_id: CallId) -> None:
    """The call has its result."""
    connection.execute(_FORGET_CALL, {"of_run": run_id, "of_call": call_id})
