"""What a run has used, as far as that can be known."""

from __future__ import annotations

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
    newest = state.calls_of(state.replies[-1]) if state.replies else ()
    return all(call.ended_at is not None and call.ended_at <= stop.at for call in newest)
