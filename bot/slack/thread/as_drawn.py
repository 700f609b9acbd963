"""Messages as whoever draws the thread shows them, for others who redraw them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime

from agent.ports import Store
from agent.rules.ids import ApprovalId
from agent.rules.state import RunState
from agent.rules.steps import Suspend, next_step
from bot.slack.cards.card import card_of
from bot.slack.cards.group import group_message
from bot.slack.cards.in_full import THERE
from bot.slack.cards.message import Message
from bot.slack.cards.said_since import is_read_in, with_said
from bot.slack.cards.together import shared_card
from bot.slack.thread.desired import desired
from bot.slack.thread.elsewhere import standing_by

#: Why nobody takes a run on.
WhyBlocked = Callable[[RunState], Awaitable[Mapping[str, str] | None]]


async def status_as_drawn(
    store: Store, state: RunState, why_blocked: WhyBlocked, *, names_agent: bool = False
) -> Message:
    """By what is known of its messages; ``state`` as it may be shown, ``names_agent`` as in ``desired``. Raises
    ``StoreError``."""
    known = await store.threads.known(state.run_id)
    blocked = await why_blocked(state) if should_move(state, store.clock.now()) else None
    standing = standing_by(state, known.messages)
    status, *_ = desired(state, blocked, standing, names_agent=names_agent)
    return status.message


def should_move(state: RunState, now: datetime) -> bool:
    """Is there something to do that somebody has to take on?"""
    return not state.is_ended and not isinstance(next_step(state, now), Suspend)


def redrawn_card(
    approval_id: ApprovalId,
    state: RunState,
    *,
    among_others: bool,
    channel: str | None,
    words_at: Mapping[str, str] | None = None,
) -> Message:
    """The message that was acted on, of ``state`` as it may be shown; ``among_others``: on a card of several;
    ``channel``: where it stands, as far as that is known; ``words_at`` links to what people wrote."""
    with_words = is_read_in(channel, state)
    shared = shared_card(approval_id, state) if among_others else None
    if shared is not None:
        card, asked = group_message(shared, state), shared.members
        return with_said(card, asked, state, words_at or {}, with_words=with_words)
    # Whoever has said yes, and waits for others, has seen the file.
    approval = state.approvals[approval_id]
    card = card_of(approval, state, file=THERE)
    return with_said(card, [approval], state, words_at or {}, with_words=with_words)
