"""What waits for people: questions that are open, and those that nobody decided in time."""

from __future__ import annotations

from agent.ports import ApprovalRow, Lists
from agent.rules.ids import ApprovalId
from agent.rules.state import Approval, RunState
from agent.rules.undecided import is_to_be_asked_again


async def rows_of_asked(
    lists: Lists, limit: int, *, waiting_only: bool, newest_first: bool = False
) -> list[ApprovalRow]:
    """Where they are asked, oldest first unless told otherwise; without ``waiting_only`` whatever was ever
    asked. Of some only the run's journal says whether it waits because of them: see ``find_asked``."""
    rows = await lists.approvals(limit=limit, pending_only=waiting_only, newest_first=newest_first)
    if waiting_only:
        rows += await lists.undecided(limit=limit)
    return sorted(rows, key=lambda row: (row.requested_at, row.approval_id), reverse=newest_first)


def find_asked(state: RunState, approval_id: ApprovalId, *, waiting_only: bool) -> Approval | None:
    """This approval of the run; with ``waiting_only``, if it is open or waits to be asked again."""
    approval = state.approvals.get(approval_id)
    if approval is None or not waiting_only or approval.status == "pending":
        return approval
    return approval if is_to_be_asked_again(state, approval) else None
