"""The people behind a command, a click, a submission or a message, and how each is told privately.

A command's acknowledgement can carry the answer; a click is answered through its response URL; a
submission by its modal; a message by an ephemeral one beside it, or in the direct message it is in.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any

from slack_bolt.context.ack.async_ack import AsyncAck

from bot.slack.answering import Answer
from bot.slack.cards.modals import notice_modal
from bot.slack.payloads import Actor, Click, Command, Message, Submission
from bot.slack.people import SLACK_ERRORS
from bot.slack.services import Services

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Caller:
    """Whoever used a slash command."""

    services: Services
    ack: AsyncAck
    command: Command
    saving: str = "Still at it. You'll be told here."

    async def acknowledge(self, answer: Answer | None) -> bool:
        await self.ack(text=self.saving if answer is None else answer.text)
        return True

    async def tell(self, answer: Answer) -> None:
        await whisper(self.services, self.command.response_url, self.command.actor, answer.text)


@dataclass(frozen=True, slots=True)
class Clicker:
    """Whoever clicked a button."""

    services: Services
    ack: AsyncAck
    click: Click
    saving: str

    async def acknowledge(self, answer: Answer | None) -> bool:
        await self.ack()
        return answer == Answer()

    async def tell(self, answer: Answer) -> None:
        url = self.click.response_url
        if answer.card is not None and url is not None:
            # A hint only: whoever draws the thread makes the same edit, and confirms it.
            await self.services.response_urls.send(url, {"replace_original": True, **answer.card})
        await whisper(self.services, url, self.click.actor, answer.text, self.click.thread_ts)


@dataclass(frozen=True, slots=True)
class Submitter:
    """Whoever sent off a modal. It belongs to no channel: what comes late is told them directly."""

    services: Services
    ack: AsyncAck
    submission: Submission
    saving: str

    async def acknowledge(self, answer: Answer | None) -> bool:
        if answer is None:
            await self.ack(response_action="update", view=notice_modal("Steer", self.saving))
        elif answer.errors:
            await self.ack(response_action="errors", errors=dict(answer.errors))
        elif answer.text:
            await self.ack(response_action="update", view=notice_modal("Steer", answer.text))
        else:
            await self.ack()
        return True

    async def tell(self, answer: Answer) -> None:
        """They were shown that it is being saved: the modal may be closed by now."""
        text = answer.text or "; ".join(answer.errors.values())
        await post(self.services, self.submission.actor.user, None, text)


@dataclass(frozen=True, slots=True)
class Speaker:
    """Whoever wrote a message to us."""

    services: Services
    ack: AsyncAck
    message: Message
    saving: str = ""

    async def acknowledge(self, answer: Answer | None) -> bool:
        await self.ack()
        return answer == Answer()

    async def tell(self, answer: Answer) -> None:
        message = self.message
        if message.is_direct:
            await post(self.services, message.channel, message.thread, answer.text)
            return
        # An ephemeral message shows in a thread only to those who have it open: where the message
        # opens no thread it is better said beside it.
        await post(
            self.services,
            message.channel,
            message.thread_ts,
            answer.text,
            only_to=message.actor.user,
        )


async def whisper(
    services: Services,
    response_url: str | None,
    actor: Actor,
    text: str,
    thread_ts: str | None = None,
) -> None:
    """Tell one person privately: where they acted if that is possible, else directly."""
    if not text:
        return
    message = {"response_type": "ephemeral", "replace_original": False, "text": text}
    if thread_ts is not None:
        message["thread_ts"] = thread_ts
    if response_url is None or not await services.response_urls.send(response_url, message):
        await post(services, actor.user, None, text)


async def post(
    services: Services,
    channel: str,
    thread_ts: str | None,
    text: str,
    *,
    only_to: str | None = None,
) -> None:
    """Post a private sentence. It can be lost, and then it is: what it is about is in the store."""
    if not text:
        return
    where: dict[str, Any] = {"channel": channel, "text": text}
    if thread_ts is not None:
        where["thread_ts"] = thread_ts
    try:
        if only_to is None:
            await services.slack.chat_postMessage(**where, unfurl_links=False)
        else:
            await services.slack.chat_postEphemeral(**where, user=only_to)
    except SLACK_ERRORS as error:
        _log.warning("Could not answer in %s: %s", channel, type(error).__name__)
