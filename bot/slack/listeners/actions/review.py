"""The buttons of a review: what became of an effect that nobody knows of."""

from __future__ import annotations

from typing import Any

from slack_bolt.context.ack.async_ack import AsyncAck

from agent.rules.decisions import Settle
from bot.slack.deciding import decide_by_click
from bot.slack.services import Services


async def check(ack: AsyncAck, body: dict[str, Any], services: Services) -> None:
    await decide_by_click(services, ack, body, Settle("check"))


async def happened(ack: AsyncAck, body: dict[str, Any], services: Services) -> None:
    await decide_by_click(services, ack, body, Settle("happened"))


async def not_happened(ack: AsyncAck, body: dict[str, Any], services: Services) -> None:
    await decide_by_click(services, ack, body, Settle("not_happened"))


async def give_up(ack: AsyncAck, body: dict[str, Any], services: Services) -> None:
    await decide_by_click(services, ack, body, Settle("give_up"))
