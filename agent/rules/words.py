"""How much people may say at once. What is longer is refused, and never cut unasked."""

from __future__ import annotations

from agent.errors import TooLong

#: A prompt or a message, in characters: as much as a Slack message can have.
MESSAGE_LIMIT = 40_000
#: A note, a reason, guidance or an answer.
WORDS_LIMIT = 10_000


def must_fit(text: str, limit: int) -> None:
    """Raises ``TooLong``."""
    if len(text) > limit:
        raise TooLong(len(text), limit)
