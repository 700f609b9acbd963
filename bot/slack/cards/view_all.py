"""The modal that shows in full what a card has no room for, a page at a time."""

from __future__ import annotations

import json

from agent.rules.state import Approval, Call, RunState
from bot.slack.cards.arguments import describe_arguments, notes
from bot.slack.cards.blocks import Block, actions, button, context, plain, plain_section, section
from bot.slack.cards.deciding import title_of
from bot.slack.cards.mentions import name_principal
from bot.slack.cards.modals import View
from bot.slack.cards.pages import pages_of
from bot.slack.ids import VIEW, VIEW_MODAL

_IS_OVER = "This is no longer open; its card says what became of it."
_NOT_ALL = section("⚠️ *The rest is too long to be shown here.*")


def view_all_modal(approval: Approval, call: Call, state: RunState, *, page: int = 1) -> View:
    """A page of it; the nearest for a number that there is no page of."""
    asked = approval.requested
    arguments = describe_arguments(asked.args, call.parameters)
    pages, is_complete = pages_of(arguments, asked.preview)
    number = min(max(page, 1), len(pages))
    stands = f"{name_principal(state.requester)}'s run wants to do this. It has not happened yet."
    is_cut = not is_complete and number == len(pages)
    return {
        "type": "modal",
        "callback_id": VIEW_MODAL,
        "private_metadata": json.dumps({"approval": approval.id}),
        "title": plain("View all"),
        "close": plain("Close"),
        "blocks": [
            plain_section(title_of(approval)),
            section(stands if approval.status == "pending" else _IS_OVER),
            *pages[number - 1],
            *([_NOT_ALL] if is_cut else []),
            *notes(arguments, asked.preview),
            *_turning(approval, number, len(pages)),
        ],
    }


def _turning(approval: Approval, number: int, count: int) -> list[Block]:
    """Which page it is, and the way to its neighbours."""
    if count == 1:
        return []
    said = f"Page {number} of {count}"
    neighbours = [
        button(words, f"{VIEW}:{other}", approval.id, about=f"page {other} of {count}")
        for words, other in (("Back", number - 1), ("Next", number + 1))
        if 1 <= other <= count
    ]
    return [context(plain(said)), actions(*neighbours)]
