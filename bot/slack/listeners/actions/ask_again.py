"""Ask again: on the card of what nobody decided in time."""

from __future__ import annotations

from typing import Any

from slack_bolt.context.ack.async_ack import AsyncAck

from bot.slack.asking_again import ask_again_by_click
from bot.slack.services import Services


async def ask_again(ack: AsyncAck, body: dict[str, Any], services: Services) -> None:
    await ask_again_by_click(services, ack, body)
