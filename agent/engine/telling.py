"""What foreign code raised or gave, in words; whatever it is, there are some."""

from __future__ import annotations

from collections.abc import Callable

from agent.rules.json_text import whole_text

#: Longer ones are cut: they are told to the model and shown to people.
ERROR_LIMIT = 2_000


def tell(error: BaseException) -> str:
    """The error's kind and its words."""
    return f"{type(error).__name__}: {words_of(error)}"[:ERROR_LIMIT]


def words_of(error: BaseException) -> str:
    """The error's own words, empty where it has none."""
    return _in_words(lambda: str(error))


def describe(value: object) -> str:
    """The value as a programmer would see it."""
    return _in_words(lambda: repr(value))


def _in_words(words: Callable[[], str]) -> str:
    try:
        return whole_text(words())[:ERROR_LIMIT]
    except Exception as error:
        return f"(it can't be put into words: {type(error).__name__})"
