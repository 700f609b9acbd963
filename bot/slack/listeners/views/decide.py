"""The modals in which a decision is given with a reason, a note or a grant, sent off."""

from __future__ import annotations

from typing import Any

from slack_bolt.context.ack.async_ack import AsyncAck

from bot.slack.forms import decide_by_form
from bot.slack.services import Services


async def decide(ack: AsyncAck, body: dict[str, Any], services: Services) -> None:
    await decide_by_form(services, ack, body)
