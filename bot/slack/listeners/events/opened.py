"""Somebody opened a tab of ours: their Home is published as it is now, or they are told what they might say."""

from __future__ import annotations

from typing import Any

from slack_bolt.context.ack.async_ack import AsyncAck

from bot.slack.home.publishing import show_home
from bot.slack.home.visits import Visit
from bot.slack.native.prompts import opened_conversation, suggest_prompts
from bot.slack.services import Services


async def opened(ack: AsyncAck, body: dict[str, Any], services: Services) -> None:
    if (visit := Visit.parse(body)) is not None:
        services.answering.keep(show_home(services, visit.actor, seen=visit.view_hash))
    elif (channel := opened_conversation(body)) is not None:
        services.answering.keep(suggest_prompts(services, channel))
    # Nothing is kept of it, so there is nothing to wait for.
    await ack()
