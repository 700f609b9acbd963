"""Text within Slack's limits.

Slack does not say what a character is to it, nor whether it counts before or after escaping. So
length is measured the way that is never too small: UTF-16 units after escaping.
"""

from __future__ import annotations

import json
import re
import unicodedata
from dataclasses import dataclass

from bot.slack.cards.hidden import reveal
from bot.slack.cards.masking import mask

#: Ends what was shortened.
SHORTENED = "… [shortened]"

_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
_ESCAPES = str.maketrans(_ENTITIES)
_COSTS = {ord(char): len(entity) for char, entity in _ENTITIES.items()}
#: How far a cut may move back so as not to split what is seen as one character.
_LONGEST_CLUSTER = 32


@dataclass(frozen=True, slots=True)
class Shown:
    """Data as people may see it: secrets masked, hidden characters visible, never empty."""

    text: str
    is_masked: bool
    has_hidden: bool


def show(text: str) -> Shown:
    """Whatever a person, a model or a tool wrote, ready to be shown as plain text."""
    masked = mask(text)
    visible = reveal(masked)
    shown = visible if visible.strip() else json.dumps(visible)
    return Shown(shown, is_masked=masked != text, has_hidden=visible != masked)


def one_line(text: str, limit: int) -> str:
    """Data for a line of plain text."""
    return shorten(" ".join(show(text[: limit * 4]).text.split()), limit)


def escape(text: str) -> str:
    """For mrkdwn: it can't become a mention, a link or a date."""
    return text.translate(_ESCAPES)


def quoted(text: str, limit: int) -> str:
    """Data for a line of mrkdwn, where it can't be kept out."""
    return escape(one_line(text, limit))


def measure(text: str) -> int:
    """Its length, as strictly as Slack could count it."""
    if text.isascii() and not re.search("[&<>]", text):
        return len(text)
    return sum(_cost(char) for char in text)


def shorten(text: str, limit: int) -> str:
    """The text, or as much of it as fits with a visible mark at its end."""
    if len(text) <= limit and measure(text) <= limit:
        return text
    return cut(text, limit - len(SHORTENED)) + SHORTENED


def split(text: str, limit: int) -> list[str]:
    """The whole text in pieces that fit, at the ends of lines where there are any."""
    pieces: list[str] = []
    while text:
        head = cut(text, limit)
        line_end = head.rfind("\n") + 1
        if len(head) < len(text) and line_end > len(head) // 2:
            head = head[:line_end]
        pieces.append(head)
        text = text[len(head) :]
    return pieces


def cut(text: str, limit: int) -> str:
    """As much from its start as fits, and no half of what is seen as one character."""
    end = _fitting(text, limit)
    if end == len(text):
        return text
    for earlier in range(end, max(end - _LONGEST_CLUSTER, 0), -1):
        if not _joins(text, earlier):
            return text[:earlier]
    return text[: max(end, 1)]


def _fitting(text: str, limit: int) -> int:
    left = limit
    for index, char in enumerate(text):
        left -= _cost(char)
        if left < 0:
            return index
    return len(text)


def _cost(char: str) -> int:
    return _COSTS.get(ord(char)) or (2 if ord(char) > 0xFFFF else 1)


def _joins(text: str, index: int) -> bool:
    """Does the character at ``index`` belong to the one before it?"""
    char = text[index]
    return (
        unicodedata.category(char) in ("Mn", "Me", "Mc", "Cf")
        or "\U0001f3fb" <= char <= "\U0001f3ff"
        or text[index - 1] == "\u200d"
    )
