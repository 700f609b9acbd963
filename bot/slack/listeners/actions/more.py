"""The menu beside the buttons of a call's card."""

from __future__ import annotations

from typing import Any

from slack_bolt.context.ack.async_ack import AsyncAck

from bot.slack.more import choose_more
from bot.slack.services import Services


async def more(ack: AsyncAck, body: dict[str, Any], services: Services) -> None:
    await choose_more(services, ack, body)
