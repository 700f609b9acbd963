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
_ESCAPED = re.compile("[&<>]")
#: What stands further back than this from where a text is cut is whole, or no word.
_LONGEST_WORD = 1_024
#: What mrkdwn formats by, and what looks like it.
_FORMATTING = re.compile(r"(?<!\w)[*_~]|[*_~](?!\w)|`")
_LOOKS_LIKE = {"*": "\u2217", "_": "\u02cd", "~": "\u223c", "`": "\u02cb"}
#: How a hidden character is written.
_REVEALED = re.compile(r"⟦U\+[0-9A-F]{4,6}⟧")
_LONGEST_REVEALED = 10
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
    looked_at = beginning(text, limit * 4 + _LONGEST_WORD)
    line = " ".join(show(looked_at).text.split())
    return (
        shorten(line, limit) if looked_at == text else cut(line, limit - len(SHORTENED)) + SHORTENED
    )


def beginning(text: str, limit: int) -> str:
    """At most so much of it, without the word that it would end in: of half a secret nobody could tell
    that it is one."""
    if len(text) <= limit:
        return text
    words = re.search(
        rf"\s\S{{0,{_LONGEST_WORD}}}\Z", text[max(limit - _LONGEST_WORD - 1, 0) : limit]
    )
    if words is None:
        return text[: max(limit - _LONGEST_WORD, 0)]
    return text[: limit - len(words[0])]


def escape(text: str) -> str:
    """For mrkdwn: it can't become a mention, a link or a date."""
    return text.translate(_ESCAPES)


def unformatted(text: str) -> str:
    """For mrkdwn: what would make it bold, italic, struck or code is replaced by what looks like it. There is no
    other way to write these."""
    return _FORMATTING.sub(lambda found: _LOOKS_LIKE[found[0]], text)


def quoted(text: str, limit: int) -> str:
    """Data for a line of mrkdwn, where it can't be kept out."""
    return plainly(one_line(text, limit))


def plainly(text: str) -> str:
    """The same of what is ready to be shown."""
    return escape(unformatted(text))


def measure(text: str) -> int:
    """Its length, as strictly as Slack could count it."""
    if _costs_one_each(text):
        return len(text)
    entities = sum(text.count(char) * (len(entity) - 1) for char, entity in _ENTITIES.items())
    return len(text.encode("utf-16-le", "surrogatepass")) // 2 + entities


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
    plain = text[: max(limit, 0)]
    if _costs_one_each(plain):
        return len(plain)
    left = limit
    for index, char in enumerate(text):
        left -= _cost(char)
        if left < 0:
            return index
    return len(text)


def _costs_one_each(text: str) -> bool:
    return text.isascii() and _ESCAPED.search(text) is None


def _cost(char: str) -> int:
    return _COSTS.get(ord(char)) or (2 if ord(char) > 0xFFFF else 1)


def _joins(text: str, index: int) -> bool:
    """Does the character at ``index`` belong to the one before it?"""
    char, before = text[index], text[index - 1]
    return (
        unicodedata.category(char) in ("Mn", "Me", "Mc", "Cf")
        or "\U0001f3fb" <= char <= "\U0001f3ff"
        or before == "\u200d"
        or (_is_vowel(char) and _is_jamo(before))
        or (_is_final(char) and _is_jamo(before))
        or _is_second_of_flag(text, index)
        or _is_within_revealed(text, index)
    )


def _is_jamo(char: str) -> bool:
    """Also a whole syllable, which a final consonant may follow."""
    return "\u1100" <= char <= "\u11ff" or "\uac00" <= char <= "\ud7a3"


def _is_vowel(char: str) -> bool:
    return "\u1160" <= char <= "\u11a7"


def _is_final(char: str) -> bool:
    return "\u11a8" <= char <= "\u11ff"


def _is_second_of_flag(text: str, index: int) -> bool:
    """Two letters make a flag: it depends on how many stand before."""
    if not _is_flag_letter(text[index]):
        return False
    first = index
    while first and _is_flag_letter(text[first - 1]):
        first -= 1
    return (index - first) % 2 == 1


def _is_flag_letter(char: str) -> bool:
    return "\U0001f1e6" <= char <= "\U0001f1ff"


def _is_within_revealed(text: str, index: int) -> bool:
    start = text.rfind("⟦", max(index - _LONGEST_REVEALED, 0), index)
    found = _REVEALED.match(text, start) if start >= 0 else None
    return found is not None and found.end() > index
