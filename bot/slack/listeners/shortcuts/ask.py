"""Ask about this: opens the modal."""

from __future__ import annotations

from typing import Any

from slack_bolt.context.ack.async_ack import AsyncAck

from bot.slack.services import Services
from bot.slack.shortcut.opening import open_by_shortcut
from bot.slack.shortcut.payload import MessageShortcut


async def ask(ack: AsyncAck, body: dict[str, Any], services: Services) -> None:
    await open_by_shortcut(services, ack, MessageShortcut.parse(body))
