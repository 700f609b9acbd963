"""Ask about this, sent off."""

from __future__ import annotations

from typing import Any

from slack_bolt.context.ack.async_ack import AsyncAck

from bot.slack.payloads import Submission
from bot.slack.services import Services
from bot.slack.shortcut.asking import ask_about


async def ask(ack: AsyncAck, body: dict[str, Any], services: Services) -> None:
    await ask_about(services, ack, Submission.parse(body))
