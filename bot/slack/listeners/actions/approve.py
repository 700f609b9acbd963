"""Approve: the stored call may run."""

from __future__ import annotations

from typing import Any

from slack_bolt.context.ack.async_ack import AsyncAck

from agent.rules.decisions import Approve
from bot.slack.cards.refusals import saving_text
from bot.slack.deciding import decide_by_click
from bot.slack.payloads import Click
from bot.slack.persons import Clicker
from bot.slack.services import Services


async def approve(ack: AsyncAck, body: dict[str, Any], services: Services) -> None:
    click = Click.parse(body)
    work = decide_by_click(services, click.approval_id, Approve(), click.actor)
    person = Clicker(services, ack, click, saving_text(click.approval_id))
    await services.answering.answer(person, work, click.approval_id)
