"""What waits for a person, and what was decided lately of theirs: the statements, and the rows that they give."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    Row,
    ScalarSelect,
    bindparam,
    func,
    or_,
    select,
    text,
)

from agent.rules.decisions import Decider
from agent.rules.ids import Principal
from store.approvals import IS_DECIDED, IS_EXPIRED, IS_OF_BEFORE, IS_PENDING
from store.at_most import AT_MOST
from store.schema import approvals, awaited, runs

APPROVAL = select(
    approvals.c.approval_id, approvals.c.run_id, approvals.c.status, approvals.c.requested_at
)
_barred = awaited.alias("barred")
_BARRED = (
    select(_barred.c.kind)
    .where(
        _barred.c.approval_id == awaited.c.approval_id,
        text("barred.kind = 'barred'"),
        _barred.c.name == bindparam("of_principal"),
    )
    .scalar_subquery()
)


def _of_its_approval(column: Column[Any], *conditions: ColumnElement[bool]) -> ScalarSelect[Any]:
    """Looked up by its key for each row of ``awaited``. A join reads the same, but a planner may turn it round, and
    go through all that was ever decided, as it does with a plan that is to serve for any ``LIMIT``."""
    of_row = approvals.c.approval_id == awaited.c.approval_id
    return select(column).where(of_row, *conditions).scalar_subquery()


_AWAITED = (
    select(
        awaited.c.approval_id,
        _of_its_approval(approvals.c.run_id).label("run_id"),
        _of_its_approval(approvals.c.status).label("status"),
        awaited.c.requested_at,
    )
    # In the order of its index, so that no more is read than is given.
    .order_by(awaited.c.requested_at, awaited.c.approval_id)
    .limit(AT_MOST)
)
WAITING = _AWAITED.where(
    awaited.c.kind == bindparam("of_kind"),
    awaited.c.name == bindparam("of_name"),
    # Both said so that a planner takes them for true of nearly all: of what it takes to be rare it would rather read
    # everything, and sort that, than as much as fills a page.
    _of_its_approval(
        approvals.c.run_id,
        awaited.c.stage <= approvals.c.stage,
        # What was decided by an older build still has its rows.
        or_(IS_PENDING, IS_EXPIRED),
    ).is_not(None),
    func.coalesce(_BARRED, "") != "barred",
)
_OF_BEFORE = (
    APPROVAL.where(IS_OF_BEFORE)
    .order_by(approvals.c.requested_at, approvals.c.approval_id)
    .limit(AT_MOST)
)
_newer = approvals.alias("newer")
# What nobody decided in time, and nothing was asked instead of it.
_UNDECIDED = APPROVAL.join(runs, runs.c.run_id == approvals.c.run_id).where(
    text("runs.status = 'active'"),
    IS_EXPIRED,
    ~select(_newer.c.approval_id)
    .where(
        _newer.c.run_id == approvals.c.run_id,
        _newer.c.call_id == approvals.c.call_id,
        _newer.c.requested_at > approvals.c.requested_at,
    )
    .exists(),
)
# It waits for whoever asked for its run: so no more is looked at than waits, however much was decided.
UNDECIDED = _AWAITED.where(
    text("awaited.kind = 'principal'"),
    _UNDECIDED.with_only_columns(approvals.c.run_id)
    .where(approvals.c.approval_id == awaited.c.approval_id)
    .scalar_subquery()
    .is_not(None),
)
_UNDECIDED_BEFORE = (
    _UNDECIDED.where(IS_OF_BEFORE)
    .order_by(approvals.c.requested_at, approvals.c.approval_id)
    .limit(AT_MOST)
)
_LATELY = (
    APPROVAL.add_columns(approvals.c.decided_at)
    .where(IS_DECIDED)
    .order_by(approvals.c.decided_at.desc(), approvals.c.approval_id.desc())
    .limit(AT_MOST)
)
DECIDED_BY = _LATELY.where(approvals.c.decided_by == bindparam("of_principal"))
DECIDED_FOR = _LATELY.where(approvals.c.requester == bindparam("of_principal"))
_NEXT_GROUP = select(func.min(awaited.c.name)).where(
    text("awaited.kind = 'group'"), awaited.c.name > bindparam("after")
)


def groups_asked(connection: Connection, limit: int) -> list[str]:
    """From one to the next, however many questions there are for each."""
    return list(islice(_groups(connection), max(limit, 0)))


def _groups(connection: Connection) -> Iterator[str]:
    after = ""
    # What is no text in a file's column comes last, and is nobody's name.
    while isinstance(group := connection.execute(_NEXT_GROUP, {"after": after}).scalar(), str):
        yield group
        after = group


def waiting_for(connection: Connection, decider: Decider, limit: int) -> list[Row[Any]]:
    """Of each reason for which it may be theirs the first; of these the first."""
    who = [("principal", decider.principal), *(("group", one) for one in sorted(decider.groups))]
    who += [("user", decider.user)] if decider.user is not None else []
    found: dict[str, Row[Any]] = {}
    for kind, name in who:
        values = {"of_kind": kind, "of_name": name, "of_principal": decider.principal}
        rows = connection.execute(WAITING, {**values, "at_most": limit})
        found |= {row.approval_id: row for row in rows}
    found |= {row.approval_id: row for row in connection.execute(_OF_BEFORE, {"at_most": limit})}
    return sorted(found.values(), key=lambda row: (row.requested_at, row.approval_id))[:limit]


def undecided(connection: Connection, limit: int) -> list[Row[Any]]:
    """The oldest of what nobody decided in time, of runs that have not ended."""
    found: dict[str, Row[Any]] = {}
    for statement in (UNDECIDED, _UNDECIDED_BEFORE):
        rows = connection.execute(statement, {"at_most": limit})
        found |= {row.approval_id: row for row in rows}
    return sorted(found.values(), key=lambda row: (row.requested_at, row.approval_id))[:limit]


def decided_lately(connection: Connection, principal: Principal, limit: int) -> list[Row[Any]]:
    """The newest of both."""
    values = {"of_principal": principal, "at_most": limit}
    found: dict[str, Row[Any]] = {}
    for statement in (DECIDED_BY, DECIDED_FOR):
        found |= {row.approval_id: row for row in connection.execute(statement, values)}
    newest = sorted(found.values(), key=lambda row: (row.decided_at, row.approval_id), reverse=True)
    return newest[:limit]
