"""Where a card does not show all: that it says so, and leads to where it can be read in full."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from agent.rules.state import Approval
from bot.slack.cards.blocks import (
    Block,
    Room,
    actions,
    button,
    context,
    mrkdwn,
    room_of,
    weigh,
)
from bot.slack.cards.deciding import title_of
from bot.slack.cards.text import measure, shorten
from bot.slack.ids import VIEW

SHORTENED: Final = context(mrkdwn("Shortened: too long to be shown in full here."))


#: A cut text of fewer characters says nothing.
_LEAST: Final = 40


def view_all_button(approval: Approval) -> Block:
    """What the card has no room for, shown to one person."""
    return button("View all", VIEW, approval.id, about=title_of(approval))


def view_all_row(approval: Approval) -> Block:
    """The same by itself, on a card that has nothing else left to be done."""
    return actions(view_all_button(approval))


def fitted(blocks: Sequence[Block], room: Room) -> list[Block]:
    """The same within ``room``: our own words whole, and of what stands apart from them as much as fits."""
    own = [block for block in blocks if block["type"] != "rich_text"]
    left, apart = room - room_of(own), len(blocks) - len(own)
    shown: list[Block] = []
    for block in blocks:
        if block["type"] != "rich_text":
            shown.append(block)
            continue
        cut = _cut(block, left.weight // apart) if left.blocks > 0 else None
        apart -= 1
        if cut is not None:
            shown.append(cut)
            left -= room_of([cut])
    return shown


def _cut(block: Block, weight: int) -> Block | None:
    """As much from its start as weighs no more; None where that is next to nothing."""
    if weigh([block]) <= weight:
        return block
    bare = [[{**text, "text": ""} for text in part["elements"]] for part in block["elements"]]
    left = weight - weigh([{**block, "elements": [{"elements": part} for part in bare]}])
    parts: list[Block] = []
    for part in block["elements"]:
        texts: list[Block] = []
        for text in part["elements"]:
            if left < _LEAST:
                break
            texts.append({**text, "text": shorten(text["text"], left)})
            left -= measure(texts[-1]["text"])
        parts += [{**part, "elements": texts}] if texts else []
    return {**block, "elements": parts} if parts else None
