"""Somebody opened their Home tab: it is published as it is now."""

from __future__ import annotations

from typing import Any

from slack_bolt.context.ack.async_ack import AsyncAck

from bot.slack.home.publishing import show_home
from bot.slack.home.visits import Visit
from bot.slack.services import Services


async def home(ack: AsyncAck, body: dict[str, Any], services: Services) -> None:
    visit = Visit.parse(body)
    if visit is not None:
        services.answering.keep(show_home(services, visit.actor, seen=visit.view_hash))
    # Nothing is kept of it, so there is nothing to wait for.
    await ack()
