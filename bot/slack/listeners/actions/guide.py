"""Use as guidance: what somebody said while one call, or several, waited for a decision."""

from __future__ import annotations

from typing import Any

from slack_bolt.context.ack.async_ack import AsyncAck

from bot.slack.conversation.guiding import use_as_guidance, use_for_all
from bot.slack.payloads import Click
from bot.slack.services import Services


async def guide(ack: AsyncAck, body: dict[str, Any], services: Services) -> None:
    click = Click.parse(body)
    use = use_for_all if click.is_of_group else use_as_guidance
    await use(services, ack, click)
