"""Several things in one clause."""

from __future__ import annotations

from collections.abc import Iterable


def join_words(words: Iterable[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``; at least one."""
    return _joined(words, "and")


def either(words: Iterable[str]) -> str:
    """``a``, ``a or b``, ``a, b or c``; at least one."""
    return _joined(words, "or")


def _joined(words: Iterable[str], by: str) -> str:
    *head, last = words
    return f"{', '.join(head)} {by} {last}" if head else last
