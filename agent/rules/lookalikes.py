"""Characters that pass for others: a name of the policy has to be the one that it looks like. Pure."""

from __future__ import annotations

import re
import unicodedata

_WORD = re.compile(r"\w+")


def odd_character(name: str) -> str | None:
    """The first character that no name here has, as a clause; None where all are plain ASCII."""
    odd = next((one for one in name if not (one.isascii() and one.isprintable())), None)
    return (
        None
        if odd is None
        else f"it has {_named(odd)}, which is not one of the characters of a name"
    )


def disguised(text: str) -> str | None:
    """What in a text can't be seen, or looks like another letter, as a clause. Words of another script are what they
    look like; a letter of it among Latin ones is not."""
    for one in text:
        if unicodedata.category(one) in ("Cf", "Cc") and one not in "\t\n\r":
            return f"it has {_named(one)}, which nobody sees"
    for word in _WORD.findall(text):
        foreign = [one for one in word if one.isalpha() and not _is_latin(one)]
        if foreign and any(one.isascii() and one.isalpha() for one in word):
            return f"in {word!r} {_named(foreign[0])} stands among Latin letters"
    return None


def _is_latin(letter: str) -> bool:
    return letter.isascii() or unicodedata.name(letter, "").startswith("LATIN")


def _named(character: str) -> str:
    """So that it is told from the one that it looks like."""
    name = unicodedata.name(character, "a character without a name").lower()
    return f"{name} (U+{ord(character):04X})"
