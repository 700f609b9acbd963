"""View all: opens the modal, and turns its pages."""

from __future__ import annotations

from typing import Any

from slack_bolt.context.ack.async_ack import AsyncAck

from bot.slack.services import Services
from bot.slack.viewing import view_by_click


async def view(ack: AsyncAck, body: dict[str, Any], services: Services) -> None:
    await view_by_click(services, ack, body)
