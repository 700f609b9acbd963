"""The status message as whoever draws the thread shows it, for others who redraw it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime

from agent.ports import Store
from agent.rules.state import RunState
from agent.rules.steps import Suspend, next_step
from bot.slack.cards.message import Message
from bot.slack.thread.desired import desired
from bot.slack.thread.elsewhere import standing_by

#: Why nobody takes a run on.
WhyBlocked = Callable[[RunState], Awaitable[Mapping[str, str] | None]]


async def status_as_drawn(store: Store, state: RunState, why_blocked: WhyBlocked) -> Message:
    """By what is known of its messages. Raises ``StoreError``."""
    known = await store.threads.known(state.run_id)
    blocked = await why_blocked(state) if should_move(state, store.clock.now()) else None
    status, *_ = desired(state, blocked, standing_by(state, known.messages))
    return status.message


def should_move(state: RunState, now: datetime) -> bool:
    """Is there something to do that somebody has to take on?"""
    return not state.is_ended and not isinstance(next_step(state, now), Suspend)
