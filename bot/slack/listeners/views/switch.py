"""A kill switch, turned on by its form."""

from __future__ import annotations

from typing import Any

from slack_bolt.context.ack.async_ack import AsyncAck

from bot.slack.payloads import Submission
from bot.slack.services import Services
from bot.slack.switching import clicking


async def switch(ack: AsyncAck, body: dict[str, Any], services: Services) -> None:
    await clicking.on_by_form(services, ack, Submission.parse(body))
