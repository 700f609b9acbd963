"""Words that read like a decision and are none: said in a thread, nobody has decided anything with them."""

from __future__ import annotations

import re
from typing import Final

_YES: Final = frozenset(
    [
        "yes",
        "yep",
        "yeah",
        "yup",
        "ok",
        "okay",
        "approve",
        "approved",
        "approving",
        "approves",
        "accept",
        "accepted",
        "confirm",
        "confirmed",
        "agree",
        "agreed",
        "ahead",
        "lgtm",
        "sure",
        "+1",
        "👍",
        "✅",
        "✔",
        ":+1:",
        ":thumbsup:",
        ":white_check_mark:",
        ":heavy_check_mark:",
        ":ok_hand:",
        "👌",
    ]
)
_NO: Final = frozenset(
    [
        "no",
        "nope",
        "nah",
        "deny",
        "denied",
        "denying",
        "reject",
        "rejected",
        "decline",
        "declined",
        "don't",
        "dont",
        "-1",
        "👎",
        "❌",
        "⛔",
        ":-1:",
        ":thumbsdown:",
        ":x:",
        ":no_entry:",
    ]
)
_DECIDING: Final = _YES | _NO
_BESIDE: Final = frozenset(
    [
        "please",
        "pls",
        "go",
        "do",
        "it",
        "that",
        "this",
        "to",
        "me",
        "from",
        "i",
        "i'm",
        "we",
        "all",
        "looks",
        "good",
        "fine",
        "great",
        "thanks",
        "thank",
        "you",
        "now",
        "just",
        "is",
        "am",
        "are",
        "by",
        "for",
        "the",
    ]
)
#: A shortcode, words with what stands within them, or a sign; a tone of skin says nothing.
_WORD: Final = re.compile(r":[+\w-]+?:|[+-]1|[^\W_]+(?:['’][^\W_]+)?|[👍👎✅✔👌❌⛔]")
_TONE: Final = re.compile(r":skin-tone-\d:|[\U0001f3fb-\U0001f3ff\ufe0f]")


def is_like_a_decision(text: str) -> bool:
    """Is it a yes or a no, and nothing besides? Whoever says ``yes, but only half`` says more than that."""
    words = _words(text)
    return not _DECIDING.isdisjoint(words) and _DECIDING.union(_BESIDE).issuperset(words)


def is_like_a_yes(text: str) -> bool:
    """Is it a yes, and nothing besides?"""
    return is_like_a_decision(text) and _NO.isdisjoint(_words(text))


def _words(text: str) -> list[str]:
    return _WORD.findall(_TONE.sub("", text.casefold().replace("’", "'")))
