"""Where the rows of a run's approvals contradict its journal, and the write that puts each of them right."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from functools import partial

from sqlalchemy import Connection, bindparam, delete, insert

from agent.rules.state import Approval, RunState
from store import awaited
from store.repair import Repair
from store.schema import approvals

_DELETE_APPROVAL = delete(approvals).where(approvals.c.approval_id == bindparam("of_approval"))
_INSERT_APPROVAL = insert(approvals)


@dataclass(frozen=True, slots=True)
class KeptApproval:
    """A row as it is, or as the journal has it."""

    approval_id: str
    run_id: str
    call_id: str
    kind: str
    status: str
    requested_at: datetime
    expires_at: datetime | None
    requester: str | None
    stage: int
    decided_by: str | None
    decided_at: datetime | None


def of_approvals(
    state: RunState,
    rows: Mapping[str, KeptApproval],
    kept: Mapping[str, frozenset[awaited.Row]],
) -> Iterator[Repair]:
    """What contradicts ``state``; ``kept``: for whom each of them waits."""
    for approval in state.approvals.values():
        row, right = rows.get(approval.id), _kept(state, approval)
        people = awaited.rows_now(state, approval)
        if row != right or kept.get(approval.id, frozenset()) != people:
            how = "missing" if row is None else "changed" if row != right else "for whom it waits"
            is_wrong = row is None or not _is_left_so(row, right, people, kept.get(approval.id, ()))
            if row == right and _was_forgotten(state, approval, kept):
                is_wrong = False
            do = partial(_write_approval, right, people)
            yield Repair(f"approval {approval.id}: {how}", do, is_wrong=is_wrong)
    for id in rows.keys() - state.approvals.keys():
        yield Repair(f"approval {id}: never requested", partial(_delete_approval, id))


def _kept(state: RunState, approval: Approval) -> KeptApproval:
    requested, decided = approval.requested, approval.decided
    return KeptApproval(
        approval_id=approval.id,
        run_id=state.run_id,
        call_id=requested.call_id or "",
        kind=approval.kind,
        status=approval.status,
        requested_at=approval.requested_at,
        expires_at=requested.expires_at,
        requester=state.requester,
        stage=approval.stage,
        decided_by=None if decided is None else decided.by,
        decided_at=approval.decided_at,
    )


def _is_left_so(
    row: KeptApproval,
    right: KeptApproval,
    people: Collection[awaited.Row],
    kept: Collection[awaited.Row],
) -> bool:
    """Is that all that an older build leaves out: who asked, how far it has escalated, who decided it and when, who
    said yes, and that it waits for nobody any more, or for whoever asked?"""
    made_whole = replace(
        row,
        requester=row.requester or right.requester,
        # A file's column takes anything.
        stage=max(row.stage, right.stage) if isinstance(row.stage, int) else row.stage,
        decided_by=row.decided_by or right.decided_by,
        decided_at=row.decided_at or right.decided_at,
    )
    return made_whole == right and (row != right or not people or _named(kept) == _named(people))


def _named(rows: Collection[awaited.Row]) -> set[awaited.Row]:
    """Those who were asked, whatever became of that."""
    return {one for one in rows if one.kind in ("user", "group")}


def _was_forgotten(
    state: RunState, approval: Approval, kept: Mapping[str, frozenset[awaited.Row]]
) -> bool:
    """Did it wait for nobody when the run failed, and does it again since that was taken on? For whom, a journal
    alone tells."""
    return bool(state.outages) and approval.status == "expired" and not kept.get(approval.id)


def _write_approval(
    right: KeptApproval, people: Collection[awaited.Row], connection: Connection
) -> None:
    # Also where somebody gave it to another run.
    _delete_approval(right.approval_id, connection)
    connection.execute(_INSERT_APPROVAL, asdict(right))
    awaited.write(connection, right.approval_id, right.requested_at, people)


def _delete_approval(id: str, connection: Connection) -> None:
    connection.execute(_DELETE_APPROVAL, {"of_approval": id})
    awaited.forget(connection, id)
