"""The kill switch in the Home tab of owners."""

from __future__ import annotations

from typing import Any

from slack_bolt.context.ack.async_ack import AsyncAck

from bot.slack.services import Services
from bot.slack.switching import clicking


async def on(ack: AsyncAck, body: dict[str, Any], services: Services) -> None:
    await clicking.open_form(services, ack, body)


async def off(ack: AsyncAck, body: dict[str, Any], services: Services) -> None:
    await clicking.off_by_click(services, ack, body)
