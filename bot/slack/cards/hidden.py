"""Characters that can't be seen, made visible: what is shown must be all that is there."""

from __future__ import annotations

import re
import unicodedata

_ZWNJ, _ZWJ, _EMOJI_STYLE = "\u200c", "\u200d", "\ufe0f"
#: No width or no ink, though Unicode calls them letters, marks or symbols.
_BLANK = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u2800\u3164\uffa0")
_USUAL_SPACES = frozenset(" \u00a0\u202f\u3000")
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
        return before.isspace() or "\ufe00" <= before <= _EMOJI_STYLE
    category = unicodedata.category(char)
    return (
        category in _HIDDEN
        or char in _BLANK
        or "\U000e0100" <= char <= "\U000e01ef"
        or (category == "Zs" and char not in _USUAL_SPACES)
    )


def _is_emoji(char: str) -> bool:
    return char == _EMOJI_STYLE or (char > "\u2000" and unicodedata.category(char) in ("So", "Sk"))


def _needs_joiner(before: str, after: str) -> bool:
    """Persian and its kin write words with joiners, Indic scripts put them behind a virama."""
    arabic = unicodedata.bidirectional(before) == unicodedata.bidirectional(after) == "AL"
    return arabic or unicodedata.combining(before) == 9
