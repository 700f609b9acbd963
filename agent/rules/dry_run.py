"""Whether a yes lets anything be carried out. Pure."""

from __future__ import annotations

from typing import Final

from agent.rules.state import Approval, RunState

DRY_RUN: Final = "Dry run"
#: What such a question says beside it, as a clause.
WHATEVER: Final = "whatever is decided, nothing is carried out"


def is_of_a_dry_run(approval: Approval, state: RunState) -> bool:
    """Does a yes let nothing be carried out? What is reviewed was begun, and may have happened."""
    is_review = approval.kind == "review"
    return not is_review and (approval.requested.dry_run or state.is_dry_run)
