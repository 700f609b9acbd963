"""What people say: a mention or a direct message starts a run in its thread, or decides in words; what is said in
the thread of a run steers it, or answers a question. And what becomes of it: edits and deletions."""

from __future__ import annotations

from typing import Any

from slack_bolt.context.ack.async_ack import AsyncAck

from bot.slack import fields
from bot.slack.conversation.changing import change_when_there
from bot.slack.messages import Change, Message
from bot.slack.persons import Speaker
from bot.slack.services import Services
from bot.slack.wishes import answer_message


async def said(ack: AsyncAck, body: dict[str, Any], services: Services) -> None:
    changed: Change | None = None
    if (message := Message.parse(body)) is not None:
        work = answer_message(services, message)
    elif (changed := Change.parse(body)) is not None:
        message, work = changed.message, change_when_there(services, changed)
        # Whoever is told something is told it of a run, which stands in the message's thread.
    else:
        await ack()
        return
    speaker = Speaker(services, ack, message, has_thread=changed is not None)
    await services.answering.answer_when_done(speaker, work, message.key, fields.event_id(body))
