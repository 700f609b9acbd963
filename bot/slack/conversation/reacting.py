"""The reaction by which people see that a message of theirs was taken. It decorates: it may fail."""

from __future__ import annotations

import logging
from functools import partial
from typing import Final

from slack_sdk.errors import SlackApiError

from bot.slack.clients import SLACK_ERRORS, error_code, error_name
from bot.slack.limiter import reacting
from bot.slack.messages import Message
from bot.slack.services import Services
from bot.slack.telling import sent_in_time

TAKEN: Final = "eyes"
_THERE: Final = "already_reacted"
_log = logging.getLogger(__name__)


async def show_taken(services: Services, message: Message) -> None:
    """Once, however often the message is delivered."""
    channel, ts = message.channel, message.ts
    react = partial(services.slack.reactions_add, channel=channel, timestamp=ts, name=TAKEN)
    try:
        await sent_in_time(services, reacting, react)
    except SLACK_ERRORS as error:
        if not (isinstance(error, SlackApiError) and error_code(error) == _THERE):
            _log.info("Could not react in %s: %s", channel, error_name(error))
