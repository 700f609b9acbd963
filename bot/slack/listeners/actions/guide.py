"""Use as guidance: what somebody said while a call waited for a decision."""

from __future__ import annotations

from typing import Any

from slack_bolt.context.ack.async_ack import AsyncAck

from bot.slack.conversation.guiding import use_as_guidance
from bot.slack.payloads import Click
from bot.slack.services import Services


async def guide(ack: AsyncAck, body: dict[str, Any], services: Services) -> None:
    await use_as_guidance(services, ack, Click.parse(body))
