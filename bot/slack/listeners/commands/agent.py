"""``/agent``: starts a run, or tells what there is."""

from __future__ import annotations

from typing import Any

from slack_bolt.context.ack.async_ack import AsyncAck

from bot.slack.commands import Command
from bot.slack.persons import Caller
from bot.slack.services import Services
from bot.slack.wishes import answer_command


async def agent(ack: AsyncAck, body: dict[str, Any], services: Services) -> None:
    command = Command.parse(body)
    work = answer_command(services, command)
    await services.answering.answer(Caller(services, ack, command), work, "a command")
