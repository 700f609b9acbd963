"""Words that read like a decision and are none: said in a thread, nobody has decided anything with them."""

from __future__ import annotations

import re
from typing import Final

from bot.slack.interruptions import without_quotations

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
        "absolutely",
        "definitely",
        "certainly",
        "correct",
        "good",
        "fine",
        "great",
        "perfect",
        "proceed",
        "continue",
        "allow",
        "allowed",
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
        "never",
        "refuse",
        "refused",
        "disagree",
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
        "sounds",
        "works",
        "with",
        "and",
        "a",
        "an",
        "my",
        "our",
        "be",
        "can",
        "will",
        "would",
        "should",
        "let's",
        "lets",
        "let",
        "so",
        "of",
        "way",
        "not",
        "on",
        "here",
        "there",
        "think",
        "too",
        "very",
        "really",
        "then",
        "need",
        "may",
        "guess",
        "it's",
        "that's",
        "hey",
        "well",
    ]
)
#: Words that decide only together.
_TOGETHER: Final = re.compile(
    r"\b(?:do (?:it|that|this|so|not)|go (?:for it|on)|works for|of course|carry on|ship it|make it so)\b"
)
_SAID_TOGETHER: Final = frozenset(["course", "carry", "ship", "make"])
#: Beside a yes each of them makes it a no.
_NEGATION: Final = re.compile(r"not|never|cannot|nor|\w+n't|dont|cant|wont")
_NAMES: Final = re.compile(r"<[@!][^>]*>")
#: What is typed to decide, or nearly: politely, quoted, without the mention, or with more behind it than a reason.
_TYPED: Final = re.compile(
    r"(?:approve|deny)|(?:(?:>|please|pls|plz|kindly|ok|okay)[\s,:]*)*(?:approve|deny)\s+apr_.*",
    re.DOTALL | re.IGNORECASE,
)
#: What it is about, whole or cut short: it says nothing more.
_ID: Final = re.compile(r"\bapr_[\w…-]*")
_SETTLING: Final = re.compile(
    r"\b(?:happen(?:s|ed)?|went (?:through|out)|arrived|received|was (?:not )?(?:sent|done)|give up|check again)\b"
)
#: A shortcode, words with what stands within them, or a sign; a tone of skin says nothing.
_WORD: Final = re.compile(r":[+\w-]+?:|[+-]1|[^\W_]+(?:['’][^\W_]+)?|[👍👎✅✔👌❌⛔]")
_TONE: Final = re.compile(r":skin-tone-\d:|[\U0001f3fb-\U0001f3ff\ufe0f]")


def is_like_a_typed_decision(text: str) -> bool:
    """Does it read like one that is typed, with the id of what it is about, or is it the first word of that alone?"""
    said = _NAMES.sub(" ", without_quotations(text) or text).strip()
    has_id = _ID.search(said.casefold()) is not None
    return _TYPED.fullmatch(said) is not None or (has_id and _is_yes_or_no(said))


def is_like_a_decision(text: str, about: str = "") -> bool:
    """Is it a yes or a no, and nothing besides? Whoever says ``yes, but only half`` says more than that.
    ``about``: what is to be decided; who names that says nothing more."""
    return is_like_a_typed_decision(text) or _is_yes_or_no(text, about)


def _is_yes_or_no(text: str, about: str = "") -> bool:
    words = _words(text)
    is_one = not _DECIDING.isdisjoint(words) or _TOGETHER.search(" ".join(words)) is not None
    return is_one and _DECIDING.union(_BESIDE, _SAID_TOGETHER, _words(about)).issuperset(words)


def _words(text: str) -> list[str]:
    plain = _NAMES.sub(" ", _TONE.sub("", text.casefold().replace("’", "'")))
    return _WORD.findall(_ID.sub(" ", plain))


def is_like_a_settlement(text: str) -> bool:
    """Does it read as if it said whether something happened?"""
    return _SETTLING.search(text.casefold()) is not None or is_like_a_decision(text)


def is_like_a_yes(text: str) -> bool:
    """Is it a yes, and nothing besides?"""
    words = _words(text)
    is_no = not _NO.isdisjoint(words) or any(map(_NEGATION.fullmatch, words))
    return not is_no and _is_yes_or_no(text)
