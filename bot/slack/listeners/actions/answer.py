"""Answer: opens the modal in which a question is answered in one's own words."""

from __future__ import annotations

from typing import Any

from slack_bolt.context.ack.async_ack import AsyncAck

from bot.slack.cards.modals import answer_modal
from bot.slack.opening import open_modal
from bot.slack.payloads import Click
from bot.slack.persons import Clicker
from bot.slack.services import Services


async def answer(ack: AsyncAck, body: dict[str, Any], services: Services) -> None:
    click = Click.parse(body)
    about = click.approval_id
    work = open_modal(services, click, answer_modal, kind="question", button="Answer")
    await services.answering.answer(Clicker(services, ack, click, saving=""), work, about)
