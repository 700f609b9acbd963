"""Where a card does not show all: that it says so, and leads to where it can be read in full."""

from __future__ import annotations

from typing import Final

from agent.rules.state import Approval
from bot.slack.cards.blocks import Block, actions, button, context, mrkdwn
from bot.slack.cards.deciding import title_of
from bot.slack.ids import VIEW

SHORTENED: Final = context(mrkdwn("Shortened: too long to be shown in full here."))


def view_all_button(approval: Approval) -> Block:
    """What the card has no room for, shown to one person."""
    return button("View all", VIEW, approval.id, about=title_of(approval))


def view_all_row(approval: Approval) -> Block:
    """The same by itself, on a card that has nothing else left to be done."""
    return actions(view_all_button(approval))
