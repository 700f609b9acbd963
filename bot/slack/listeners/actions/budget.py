"""The buttons of a budget that is used up: the run goes on, or it is stopped."""

from __future__ import annotations

from typing import Any

from slack_bolt.context.ack.async_ack import AsyncAck

from agent.rules.decisions import Approve, Deny
from bot.slack.deciding import decide_by_click
from bot.slack.services import Services


async def go_on(ack: AsyncAck, body: dict[str, Any], services: Services) -> None:
    await decide_by_click(services, ack, body, Approve())


async def end(ack: AsyncAck, body: dict[str, Any], services: Services) -> None:
    await decide_by_click(services, ack, body, Deny())
