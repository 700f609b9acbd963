"""Words whose letters come from several alphabets: one may have been put there because it looks like another."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from typing import Final

#: How Unicode's names begin of letters that can be taken for one another. Scripts that are mixed with
#: Latin in plain writing and look like nothing of it, such as Japanese, are none of them.
_ALIKE: Final = frozenset(
    [
        "ARMENIAN",
        "BLACK-LETTER",
        "CHEROKEE",
        "COPTIC",
        "CYRILLIC",
        "DOUBLE-STRUCK",
        "FULLWIDTH",
        "GREEK",
        "KELVIN",
        "LATIN",
        "LISU",
        "MATHEMATICAL",
        "ROMAN",
        "SCRIPT",
        "SMALL",
    ]
)
#: Of units and formulas: they look like no other letter.
_OF_FORMULAS: Final = frozenset("ΔΣΦΨΩθλμπσφψ")
#: Letters and digits, with the marks that stand on them.
_WORD: Final = re.compile(r"[^\W_](?:[^\W_]|[\u0300-\u036f\u0483-\u0489])*")
#: Letters that look like digits, of scripts other than Latin.
_LIKE_DIGITS: Final = frozenset("ОоЗзІіӀӏΟοΙՕօ")
_LETTERS: Final = 3
_LONGEST_WORD: Final = 40


def mixed_words(text: str, most: int) -> list[str]:
    """The first of them, each once, with what is odd about it: ``pаypal (а is CYRILLIC SMALL LETTER A)``."""
    return [] if text.isascii() else list(islice(dict.fromkeys(_mixed(text)), most))


def _mixed(text: str) -> Iterator[str]:
    for found in _WORD.finditer(text):
        word = found[0]
        if word.isascii():
            continue
        alphabets = Counter(alphabet for char in word if (alphabet := _alphabet(char)))
        if not alphabets.keys() <= {"LATIN"} and _is_like_a_number(word):
            yield _described(word, "")
        elif len(alphabets) > 1:
            yield _described(word, max(alphabets, key=lambda one: (alphabets[one], one == "LATIN")))


def _is_like_a_number(word: str) -> bool:
    """Digits, and letters that can be taken for some of them."""
    return any(char.isdigit() for char in word) and all(
        char.isdigit() or char in _LIKE_DIGITS for char in word
    )


def _described(word: str, usual: str) -> str:
    odd = dict.fromkeys(char for char in word if _alphabet(char) not in (None, usual))
    names = [f"{char} is {unicodedata.name(char)}" for char in islice(odd, _LETTERS)]
    more = ", …" if len(odd) > _LETTERS else ""
    shown = word if len(word) <= _LONGEST_WORD else word[:_LONGEST_WORD] + "…"
    return f"{shown} ({', '.join(names)}{more})"


@lru_cache(maxsize=4096)
def _alphabet(char: str) -> str | None:
    """None for what is no letter, and for what is taken for no other."""
    if char in _OF_FORMULAS:
        return None
    first = unicodedata.name(char, "").partition(" ")[0]
    return first if first in _ALIKE and (char.isalpha() or char.isnumeric()) else None
