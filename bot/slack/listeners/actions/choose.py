"""An option of a question, chosen."""

from __future__ import annotations

from functools import partial
from typing import Any

from slack_bolt.context.ack.async_ack import AsyncAck

from bot.slack.deciding import decide_clicked
from bot.slack.payloads import Click
from bot.slack.questions import chosen_option
from bot.slack.services import Services


async def choose(ack: AsyncAck, body: dict[str, Any], services: Services) -> None:
    click = Click.parse(body)
    read = partial(chosen_option, click)
    await decide_clicked(services, ack, click, read, what="answer")
