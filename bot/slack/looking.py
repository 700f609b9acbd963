"""What somebody who only looks is told where they may not, or where nothing can be read."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Final

from agent.errors import StoreError
from bot.slack.answering import Answer
from bot.slack.people import NotEligible

STORE_IS_AWAY: Final = "Our store can't be read right now. Please try again in a minute."


async def looked(work: Awaitable[Answer]) -> Answer:
    """What they see, or why they see nothing."""
    try:
        return await work
    except NotEligible as error:
        return Answer(text=f"{error.why[:1].upper()}{error.why[1:]}.")
    except StoreError:
        return Answer(text=STORE_IS_AWAY)
