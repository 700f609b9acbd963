"""Whether the file that a yes rests on still stands: anybody may delete it, and nothing tells of it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from typing import Any, Final

from agent.ports import ThreadMessage
from bot.slack.ids import Address
from bot.slack.limiter import looking_up_file
from bot.slack.services import Services
from bot.slack.thread.desired import Priority
from bot.slack.thread.edge import AnswerLost, RateLimited, SlackRefused, data_of
from bot.slack.thread.uploading import file_of

log = logging.getLogger(__name__)

#: Whoever clicked is waiting.
_WITHIN: Final = 3.0
_GONE: Final = {"file_not_found", "file_deleted"}
IS_GONE: Final = "the file with all of it was deleted; it is attached anew"
NOT_SHOWN: Final = (
    "Slack does not show the file with all of it where it was attached: it may have been deleted there. It is looked"
    " for, and attached anew if it is gone; try again in a moment"
)
UNKNOWN: Final = (
    "Slack does not say now whether the file with all of it is still there; try again in a moment"
)

NO_SCOPE: Final = (
    "whether the file with all of it is still there can't be asked: the app lacks the scope files:read; install it"
    " again by its manifest"
)


async def why_not_rested_on(services: Services, row: ThreadMessage, team: str) -> str | None:
    """Why no yes can rest on the file of this row; None where it stands there."""
    action = looking_up_file(team)
    if await services.limiter.take(action, Priority.APPROVAL):
        return UNKNOWN
    try:
        async with asyncio.timeout(_WITHIN):
            answer = await data_of(services.slack.files_info(file=file_of(row)))
    except SlackRefused as error:
        if error.code in _GONE:
            return IS_GONE
        if isinstance(error, RateLimited):
            await services.limiter.withhold(action, error.retry_after)
        log.warning("%s could not be looked up: %s", row.key, error.code)
        return NO_SCOPE if error.code == "missing_scope" else UNKNOWN
    except (AnswerLost, TimeoutError) as error:
        log.warning("%s could not be looked up: %s", row.key, type(error).__name__)
        return UNKNOWN
    return None if _is_shared(answer.get("file"), Address.of(row.address or "")) else NOT_SHOWN


def _is_shared(file: Any, at: Address) -> bool:
    """By the very message in which it was attached: another in the channel is not what people read beside the card,
    and what Slack does not tell is not believed."""
    shares = file.get("shares") if isinstance(file, Mapping) else None
    of_kinds = shares.values() if isinstance(shares, Mapping) else ()
    there = [one.get(at.channel) for one in of_kinds if isinstance(one, Mapping)]
    each = [one for found in there if isinstance(found, list) for one in found]
    return any(isinstance(one, Mapping) and one.get("ts") == at.ts for one in each)
