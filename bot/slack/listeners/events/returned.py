"""We have been invited to a channel again, or it was taken out of the archive."""

from __future__ import annotations

from typing import Any

from slack_bolt.context.ack.async_ack import AsyncAck

from bot.slack.messages import returned_to
from bot.slack.returning import draw_again
from bot.slack.services import Services


async def returned(ack: AsyncAck, body: dict[str, Any], services: Services) -> None:
    home = await services.people.home()
    if (channel := returned_to(body, home.bot_user)) is not None:
        services.answering.keep(draw_again(services, channel))
    await ack()
