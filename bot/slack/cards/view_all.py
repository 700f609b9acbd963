"""The modal that shows in full what a card has no room for, a page at a time: before it is decided, and after."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

from agent.rules.calls import Call
from agent.rules.state import Approval, RunState
from bot.slack.cards.arguments import Argument, describe_arguments, differs, notes
from bot.slack.cards.blocks import Block, actions, button, context, plain, plain_section, section
from bot.slack.cards.deciding import title_of
from bot.slack.cards.mentions import name_principal
from bot.slack.cards.modals import View
from bot.slack.cards.pages import pages_of
from bot.slack.ids import VIEW, VIEW_MODAL

_NOBODY_KNOWS = "This may have happened. We don't know."
_IS_OVER = "This is no longer open; its card says what became of it."
_NOT_ALL = section(
    "⚠️ *The rest is too long to be shown here.* The card says whether a file with all of it is attached."
)


def view_all_modal(approval: Approval, call: Call, state: RunState, *, page: int = 1) -> View:
    """A page of it; the nearest for a number that there is no page of."""
    arguments, preview = _everything(approval, call)
    pages, is_complete = pages_of(arguments, preview, is_over=approval.status != "pending")
    number = min(max(page, 1), len(pages))
    is_cut = not is_complete and number == len(pages)
    return {
        "type": "modal",
        "callback_id": VIEW_MODAL,
        "private_metadata": json.dumps({"approval": approval.id}),
        "title": plain("View all"),
        "close": plain("Close"),
        "blocks": [
            plain_section(title_of(approval)),
            section(_how_it_stands(approval, state)),
            *pages[number - 1],
            *([_NOT_ALL] if is_cut else []),
            *notes(arguments, preview),
            *_turning(approval, number, len(pages)),
        ],
    }


def _everything(approval: Approval, call: Call) -> tuple[Sequence[Argument], str | None]:
    """What was asked; of a call that was changed what it became, and what of it was otherwise before."""
    asked = approval.requested
    arguments = describe_arguments(asked.args, call.parameters)
    steered_to = approval.decided.args if approval.decided else None
    if steered_to is None:
        return arguments, asked.preview
    before = [
        replace(one, title=f"Before: {one.title}")
        for one in arguments
        if differs(steered_to.get(one.name), asked.args[one.name])
    ]
    return [*describe_arguments(steered_to, call.parameters), *before], None


def _how_it_stands(approval: Approval, state: RunState) -> str:
    if approval.status != "pending":
        return _IS_OVER
    if approval.kind == "review":
        return _NOBODY_KNOWS
    return f"{name_principal(state.requester)}'s run wants to do this. It has not happened yet."


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
