"""Steer: opens the modal, at once, for its trigger lives three seconds."""

from __future__ import annotations

from typing import Any

from slack_bolt.context.ack.async_ack import AsyncAck

from bot.slack.payloads import Click
from bot.slack.persons import Clicker
from bot.slack.services import Services
from bot.slack.steering import open_steer


async def steer(ack: AsyncAck, body: dict[str, Any], services: Services) -> None:
    click = Click.parse(body)
    work = open_steer(services, click.approval_id, click)
    person = Clicker(services, ack, click, saving="")
    await services.answering.answer(person, work, click.approval_id)
