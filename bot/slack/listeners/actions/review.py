"""The buttons of a review: what became of an effect that nobody knows of."""

from __future__ import annotations

from typing import Any

from slack_bolt.context.ack.async_ack import AsyncAck

from agent.rules.decisions import Settle
from agent.rules.events import SettleOutcome
from bot.slack.cards.refusals import saving_text
from bot.slack.deciding import decide_by_click
from bot.slack.payloads import Click
from bot.slack.persons import Clicker
from bot.slack.services import Services


async def check(ack: AsyncAck, body: dict[str, Any], services: Services) -> None:
    await _settle(ack, body, services, "check")


async def happened(ack: AsyncAck, body: dict[str, Any], services: Services) -> None:
    await _settle(ack, body, services, "happened")


async def not_happened(ack: AsyncAck, body: dict[str, Any], services: Services) -> None:
    await _settle(ack, body, services, "not_happened")


async def give_up(ack: AsyncAck, body: dict[str, Any], services: Services) -> None:
    await _settle(ack, body, services, "give_up")


async def _settle(
    ack: AsyncAck, body: dict[str, Any], services: Services, outcome: SettleOutcome
) -> None:
    click = Click.parse(body)
    work = decide_by_click(services, click.approval_id, Settle(outcome), click.actor)
    person = Clicker(services, ack, click, saving_text(click.approval_id))
    await services.answering.answer(person, work, click.approval_id)
