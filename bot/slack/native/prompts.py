"""What is suggested to whoever opens the conversation with us."""

from __future__ import annotations

import logging
from typing import Final

from agent.errors import StoreError
from bot.slack import fields
from bot.slack.clients import SLACK_ERRORS, error_name
from bot.slack.limiter import suggesting
from bot.slack.services import Services
from bot.slack.thread.desired import Priority

_log = logging.getLogger(__name__)

#: As in the manifest: what does nothing by itself, whoever clicks it.
PROMPTS: Final = ({"title": "What can you do?", "message": "help"},)


def opened_conversation(body: object) -> str | None:
    """The direct message whose tab somebody opened; None for another tab. Raises ``BadPayload``."""
    if fields.value(body, "event", "tab") != "messages":
        return None
    return fields.slack_id(body, "event", "channel")


async def suggest_prompts(services: Services, channel: str) -> None:
    """Once; where it can't be, it is not. Never raises for what Slack or the store does."""
    try:
        team = (await services.people.home()).team
        if await services.limiter.take(suggesting(team), Priority.STATUS):
            return
        await services.slack.assistant_threads_setSuggestedPrompts(
            channel_id=channel, prompts=[dict(one) for one in PROMPTS]
        )
    except SLACK_ERRORS as error:
        _log.info("Nothing is suggested in %s: %s", channel, error_name(error))
    except StoreError as error:
        _log.info("Nothing is suggested in %s: %s", channel, error)
