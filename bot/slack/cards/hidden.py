"""Characters that can't be seen, made visible: what is shown must be all that is there."""

from __future__ import annotations

import re
import unicodedata

_ZWNJ, _ZWJ, _EMOJI_STYLE = "\u200c", "\u200d", "\ufe0f"
#: No width or no ink, though Unicode calls them letters, marks or symbols.
_BLANK = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0\U0001d159\U00016fe4"
)
#: Of prose, where a line may not break: beside a number, or French punctuation. In a command they are another
#: character than the blank that they look like.
_UNBROKEN_SPACES = frozenset("\u00a0\u202f")
_BEHIND_NUMBERS = frozenset("%‰€$£¥°")
_BEFORE_NUMBERS = frozenset("€$£¥§№")
_FRENCH = frozenset("»!?:;")
_WIDE_SPACE = "\u3000"
#: Emoji that Unicode does not count among the symbols.
_EMOJI_TOO = frozenset("\u203c\u2049\u2139\u3030\u303d\u00a9\u00ae\u25fb\u25fc\u25fd\u25fe")
_KEYCAP = "\u20e3"
_HIDDEN = frozenset({"Cc", "Cf", "Zl", "Zp", "Cs", "Co", "Cn"})
#: England, Scotland, Wales: the flags that are spelled with tag characters.
_FLAGS = re.compile(
    "\U0001f3f4(?:"
    + "|".join(
        "".join(chr(0xE0000 + ord(letter)) for letter in name)
        for name in ("gbeng", "gbsct", "gbwls")
    )
    + ")\U000e007f"
)
_NAME = "⟦U+{:04X}⟧"
_PLAIN = re.compile(r"[ -~\n\t]*")


def reveal(text: str) -> str:
    """The text with each hidden character as ``⟦U+202E⟧``: format, control and bidirectional
    characters, odd spaces, blanks. Newlines, tabs, joined emoji and the joiners that a script needs
    stay as they are."""
    hidden = _hidden(text)
    if not hidden:
        return text
    return "".join(_NAME.format(ord(c)) if n in hidden else c for n, c in enumerate(text))


def hidden_in(text: str) -> tuple[str, ...]:
    """The same characters by name, each once, in the order in which they stand there."""
    return tuple(dict.fromkeys(_NAME.format(ord(text[n])) for n in sorted(_hidden(text))))


def _hidden(text: str) -> frozenset[int]:
    """Their places."""
    if _PLAIN.fullmatch(text):
        return frozenset()
    kept = {index for flag in _FLAGS.finditer(text) for index in range(*flag.span())}
    return frozenset(n for n in range(len(text)) if n not in kept and _is_hidden(text, n))


def _is_hidden(text: str, index: int) -> bool:
    char = text[index]
    if char in "\n\t":
        return False
    before = text[index - 1] if index else " "
    after = text[index + 1] if index + 1 < len(text) else " "
    if char == _ZWJ:
        return not (_is_emoji(before) and _is_emoji(after)) and not _needs_joiner(before, after)
    if char == _ZWNJ:
        return not _needs_joiner(before, after)
    if "\ufe00" <= char <= _EMOJI_STYLE:
        return not _may_be_varied(before, char, after)
    if char in _UNBROKEN_SPACES:
        return not _is_of_prose(before, after)
    if char == _WIDE_SPACE:
        return not (_is_wide(before) or _is_wide(after))
    category = unicodedata.category(char)
    return (
        category in _HIDDEN
        or char in _BLANK
        or "\U000e0100" <= char <= "\U000e01ef"
        or (category == "Zs" and char != " ")
    )


def _is_emoji(char: str) -> bool:
    return char == _EMOJI_STYLE or (char > "\u2000" and unicodedata.category(char) in ("So", "Sk"))


def _may_be_varied(before: str, selector: str, after: str) -> bool:
    """A selector changes how an emoji, a Han character or a sign of mathematics looks; anything else it leaves
    as it is, so that nobody sees it."""
    if selector == _EMOJI_STYLE and before in "0123456789#*":
        return after == _KEYCAP
    if selector >= "\ufe0e":
        is_arrow = "\u2190" <= before <= "\u21ff" or "\u2900" <= before <= "\u297f"
        is_symbol = before >= "\u2000" and unicodedata.category(before) == "So"
        return is_arrow or is_symbol or before in _EMOJI_TOO
    is_mathematical = before >= "\u2200" and unicodedata.category(before) == "Sm"
    return is_mathematical or unicodedata.name(before, "").startswith("CJK ")


def _is_of_prose(before: str, after: str) -> bool:
    """Does a space that does not break belong between these?"""
    return (
        (before.isdigit() and (after.isalnum() or after in _BEHIND_NUMBERS))
        or (after.isdigit() and (before.isalpha() or before in _BEFORE_NUMBERS))
        or before == "«"
        or (after in _FRENCH and before.isalnum())
    )


def _is_wide(char: str) -> bool:
    is_wide = unicodedata.east_asian_width(char) in ("W", "F")
    return is_wide and not char.isspace() and not _is_emoji(char)


def _needs_joiner(before: str, after: str) -> bool:
    """Persian and its kin write words with joiners, Indic scripts put them behind a virama."""
    arabic = unicodedata.bidirectional(before) == unicodedata.bidirectional(after) == "AL"
    return arabic or unicodedata.combining(before) == 9
