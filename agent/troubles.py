"""Why something can't be done now, as the log is told of it."""

from __future__ import annotations

import logging
from typing import Final

#: More reasons than these one trouble has not: what comes then differs only in its words.
_MOST: Final = 8


class Trouble:
    """Of one thing that is tried again and again: each reason is logged once, until it is done at last. Reasons may
    come by turns: of a server that is away a connection is refused now, and broken off then."""

    def __init__(self, log: logging.Logger, words: str) -> None:
        """``words`` have one place, for the reason."""
        self._log = log
        self._words = words
        self._said: set[str] = set()

    def met(self, error: Exception) -> None:
        """It could not be done."""
        reason = str(error)
        is_news = reason not in self._said and len(self._said) < _MOST
        if is_news:
            self._said.add(reason)
        self._log.log(logging.WARNING if is_news else logging.DEBUG, self._words, reason)

    def end(self) -> bool:
        """It is done. Had it been kept from that?"""
        had_any = bool(self._said)
        self._said.clear()
        return had_any
