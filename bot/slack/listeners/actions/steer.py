"""Steer: opens the modal."""

from __future__ import annotations

from typing import Any

from slack_bolt.context.ack.async_ack import AsyncAck

from bot.slack.cards.modals import steer_modal
from bot.slack.opening import open_modal
from bot.slack.payloads import Click
from bot.slack.persons import Clicker
from bot.slack.services import Services


async def steer(ack: AsyncAck, body: dict[str, Any], services: Services) -> None:
    click = Click.parse(body)
    about = click.approval_id
    work = open_modal(services, click, steer_modal, kind="call", button="Steer")
    await services.answering.answer(Clicker(services, ack, click, saving=""), work, about)
