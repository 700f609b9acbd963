"""A run that is paused or stopped, in words: by whom, and why."""

from __future__ import annotations

from agent.rules.ids import BY_BUDGET, BY_SILENCE
from agent.rules.state import Approval, LastingWord, RunState
from bot.slack.cards.mentions import name_principal


def paused_words(held: LastingWord) -> str:
    """``Paused by @Bob``"""
    return f"Paused by {name_principal(held.by)}"


def stopped_words(stop: LastingWord) -> str:
    """``Stopped by @Bob``, or why it was where no person did."""
    match stop.by:
        case by if by == BY_SILENCE:
            return "Stopped: nobody decided in time"
        case by if by == BY_BUDGET:
            return "Stopped: its budget was used up"
        case by:
            return f"Stopped by {name_principal(by)}"


def how_it_was_stopped(state: RunState) -> str:
    """``its run was stopped by @Bob``"""
    words = stopped_words(state.stop) if state.stop else "Stopped"
    return f"its run was {words[:1].lower()}{words[1:]}"


def is_closed_by_stop(approval: Approval, state: RunState) -> bool:
    """Was it open when somebody stopped the run?"""
    return (
        approval.status == "cancelled"
        and state.stop is not None
        and approval.closed_at == state.stop.at
    )
