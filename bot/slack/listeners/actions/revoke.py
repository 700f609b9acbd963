"""Revoke: a grant holds no more."""

from __future__ import annotations

from typing import Any

from slack_bolt.context.ack.async_ack import AsyncAck

from bot.slack.granting import revoke_by_click
from bot.slack.services import Services


async def revoke(ack: AsyncAck, body: dict[str, Any], services: Services) -> None:
    await revoke_by_click(services, ack, body)
