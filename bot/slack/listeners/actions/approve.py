"""Approve: the stored call may run."""

from __future__ import annotations

from typing import Any

from slack_bolt.context.ack.async_ack import AsyncAck

from agent.rules.decisions import Approve
from bot.slack.deciding import decide_by_click
from bot.slack.services import Services


async def approve(ack: AsyncAck, body: dict[str, Any], services: Services) -> None:
    await decide_by_click(services, ack, body, Approve())
