"""The calls that run while nothing new begins: a pause or a stop does not cut them."""

from __future__ import annotations

from agent.rules.calls import Call
from agent.rules.listing import join_words
from agent.rules.state import RunState
from bot.slack.cards.call_titles import title_of_call
from bot.slack.cards.mentions import time_of_day
from bot.slack.cards.text import quoted

_NAMED = 3


def running(state: RunState) -> tuple[Call, ...]:
    """Those that somebody may still be running, as of the newest event: a message has no clock."""
    if state.is_ended:
        return ()
    return tuple(
        call
        for call in state.open_calls
        if call.status == "started"
        if call.deadline is None or state.updated_at < call.deadline
    )


def running_words(state: RunState) -> str:
    """``running: *Refund an order*, until 13:06 at most``; empty where nothing is."""
    calls = running(state)
    if not calls:
        return ""
    titles = [f"*{quoted(title_of_call(call, state), 80)}*" for call in calls[:_NAMED]]
    more = [f"{len(calls) - _NAMED} more"] if len(calls) > _NAMED else []
    ends = [call.deadline for call in calls if call.deadline is not None]
    until = f", until {time_of_day(max(ends))} at most" if ends else ""
    return f"running: {join_words([*titles, *more])}{until}"
