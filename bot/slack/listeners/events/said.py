"""A mention, or a direct message: starts a run in its thread, or decides in words. What is said in a thread may
answer a question."""

from __future__ import annotations

from typing import Any

from slack_bolt.context.ack.async_ack import AsyncAck

from bot.slack.messages import Message
from bot.slack.persons import Speaker
from bot.slack.services import Services
from bot.slack.wishes import answer_message


async def said(ack: AsyncAck, body: dict[str, Any], services: Services) -> None:
    message = Message.parse(body)
    if message is None:
        await ack()
        return
    work = answer_message(services, message)
    await services.answering.answer_when_done(Speaker(services, ack, message), work, message.key)
