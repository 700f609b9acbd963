"""The card of an approval, whatever its kind."""

from __future__ import annotations

from agent.rules.state import Approval, RunState
from bot.slack.cards.approval import approval_message
from bot.slack.cards.message import Message
from bot.slack.cards.review import review_message


def card_of(approval: Approval, state: RunState) -> Message:
    """As it is to stand in the thread now."""
    call = state.calls[approval.requested.call_id]
    draw = review_message if approval.kind == "review" else approval_message
    return draw(approval, call, state)
