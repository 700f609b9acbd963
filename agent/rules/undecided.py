"""What nobody decided in time, and what its run waits for because of that."""

from __future__ import annotations

from agent.rules.state import Approval, RunState
from agent.rules.waiting import is_waited_for


def is_to_be_asked_again(state: RunState, approval: Approval) -> bool:
    """Has nobody decided it in time, and does its run wait for somebody to have it asked once more?"""
    is_silent = approval.status == "expired" and approval.superseded_by is None
    lives = not state.is_ended and state.stop is None
    return lives and is_silent and is_waited_for(state, approval)
