"""Several of a kind in one message or view: no two of their buttons are alike."""

from __future__ import annotations

from bot.slack.cards.blocks import BUTTON_LIMIT, Block
from bot.slack.cards.text import shorten
from bot.slack.ids import numbered


def with_number(block: Block, number: int) -> Block:
    """No two elements of a message have the same action id, nor does a screen reader read two alike."""
    if block["type"] != "actions":
        return block
    return {**block, "elements": [_numbered(one, number) for one in block["elements"]]}


def _numbered(element: Block, number: int) -> Block:
    own = {"action_id": numbered(element["action_id"], number)}
    if label := element.get("accessibility_label"):
        own["accessibility_label"] = shorten(f"{number}. {label}", BUTTON_LIMIT)
    return {**element, **own}
