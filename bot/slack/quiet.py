"""What the Slack libraries may log: their own words, never a payload, a token or an address.

They write whole payloads at DEBUG, those that nobody handles at WARNING, and the addresses of
sockets and response URLs into their error messages.
"""

from __future__ import annotations

import logging
import re
from typing import Final

#: A message of the libraries up to where it begins to quote: a bracket, a colon, a line's end.
_OWN_WORDS: Final = re.compile(r"[^({\[:\n]*")
#: Said at each start, because the token stands in the environment too.
_NOISE: Final = "As you gave `client`"
_NOISE_ABOUT_TOKEN: Final = "As `installation_store` or `authorize`"


class _OwnWords(logging.Filter):
    """Cuts a record down to the library's own words and the name of the error."""

    def filter(self, record: logging.LogRecord) -> bool:
        message = record.getMessage()
        if message.startswith((_NOISE, _NOISE_ABOUT_TOKEN)):
            return False
        words = _OWN_WORDS.match(message)
        kind = record.exc_info[0].__name__ if record.exc_info and record.exc_info[0] else None
        record.msg = " ".join(
            part for part in (words[0].strip() if words else "", kind and f"[{kind}]") if part
        )
        record.args = ()
        record.exc_info = record.exc_text = record.stack_info = None
        return True


_FILTER: Final = _OwnWords()


def slack_logger() -> logging.Logger:
    """The logger to hand to everything of Slack's libraries; Bolt copies it to its own."""
    logger = logging.getLogger("bot.slack.library")
    logger.setLevel(logging.WARNING)
    if _FILTER not in logger.filters:
        logger.addFilter(_FILTER)
    return logger
