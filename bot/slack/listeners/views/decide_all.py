"""The modals of Approve all and Deny all, sent off."""

from __future__ import annotations

from typing import Any

from slack_bolt.context.ack.async_ack import AsyncAck

from bot.slack.deciding_all import decide_all
from bot.slack.services import Services


async def approve_all(ack: AsyncAck, body: dict[str, Any], services: Services) -> None:
    await decide_all(services, ack, body, "Approve")


async def deny_all(ack: AsyncAck, body: dict[str, Any], services: Services) -> None:
    await decide_all(services, ack, body, "Deny")
