"""Text from people, models and tools, made safe for a terminal."""

from __future__ import annotations

import unicodedata

#: Control, format (bidirectional marks, zero width), surrogate, private use.
_HIDDEN = {"Cc", "Cf", "Cs", "Co"}
#: Joins the parts of one emoji.
_JOINER = "\u200d"
_REASON_LIMIT = 300


def one_line(text: str) -> str:
    """All of it on one line, hidden characters and escape sequences made visible."""
    return "".join(_visible(c) for c in text.replace("\r\n", "\n").replace("\n", " "))


def reason_in_short(text: str) -> str:
    """As much of a reason as has room beside what it is for; whole it stands in the journal."""
    return in_short(text, _REASON_LIMIT)


def in_short(text: str, limit: int) -> str:
    """As much of it as has room on a line beside other things."""
    return one_line(text if len(text) <= limit else text[: limit - 2].rstrip() + " …")


def lines(text: str) -> str:
    """As it is written, each further line indented: none can pass for a line of ours."""
    return "\n  ".join(one_line(line) for line in text.replace("\r\n", "\n").split("\n"))


def _visible(character: str) -> str:
    if character == "\t":
        return " "
    if character in "\u2028\u2029" or (
        unicodedata.category(character) in _HIDDEN and character != _JOINER
    ):
        return character.encode("unicode_escape").decode("ascii")
    return character
