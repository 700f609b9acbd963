"""What somebody wrote beside a decision, or a tool beside its result: quoted, apart from our words."""

from __future__ import annotations

from bot.slack.cards.blocks import Block, apart
from bot.slack.cards.text import beginning, shorten, show

_LIMIT = 700


def remark(label: str, text: str | None, *, limit: int = _LIMIT) -> list[Block]:
    """The text under its label, if it has one; nothing when they wrote nothing."""
    if not text or not text.strip():
        return []
    return [apart(label, shorten(show(beginning(text, 40_000)).text, limit), "rich_text_quote")]
