"""What a run has used, as far as that can be known. What it cost may not be, of what is counted."""

from __future__ import annotations

from datetime import datetime

from agent.rules.state import RunState


def is_all_counted(state: RunState) -> bool:
    """Is what it used what is counted? What a model request used that got no reply nobody can tell: one that
    failed, or that a stop may have cut off."""
    return state.unanswered == 0 and not _may_be_cut_off(state)


def _may_be_cut_off(state: RunState) -> bool:
    """Was it its model's turn when a person stopped it? Rules and budgets stop no request."""
    stop = state.stop
    if stop is None or stop.is_a_rules or state.open_calls:
        return False
    last = _held_since(state, stop.at) or stop.at  # No request begins while it is held.
    newest = state.calls_of(state.replies[-1]) if state.replies else ()
    is_its_turn = all(call.ended_at is not None and call.ended_at <= last for call in newest)
    return is_its_turn and not _waits_at_budget(state, last)


def _held_since(state: RunState, at: datetime) -> datetime | None:
    """Since when it was held at that time, if it was."""
    if state.held is not None:
        return state.held.at
    return next((began for began, ended in state.holds if began <= at <= ended), None)


def _waits_at_budget(state: RunState, at: datetime) -> bool:
    """Were people asked then whether it may go on? Also when their no was what stopped it, which is written a
    moment before the stop."""
    asked = state.approvals.get(state.budget_id) if state.budget_id else None
    if asked is None:
        return False
    return asked.status in ("denied", "expired") or asked.closed_at is None or asked.closed_at >= at
