"""The people behind a command, a click, a submission or a message, and how each is told privately.

A command's acknowledgement can carry the answer; a click is answered through its response URL; a
submission by its modal; a message by an ephemeral one beside it, or in the direct message it is in.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass

from slack_bolt.context.ack.async_ack import AsyncAck

from agent.errors import StoreError
from agent.rules.ids import RunId
from bot.slack.answering import Answer, Redrawn
from bot.slack.cards.modals import notice_modal
from bot.slack.commands import Command
from bot.slack.home.publishing import show_home
from bot.slack.messages import Message
from bot.slack.payloads import Click, Spot, Submission
from bot.slack.roots.opened import is_open
from bot.slack.services import Services
from bot.slack.telling import post, whisper
from bot.slack.thread.digests import digest_of

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Caller:
    """Whoever used a slash command."""

    services: Services
    ack: AsyncAck
    command: Command
    saving: str = "Still at it. You'll be told here."

    async def acknowledge(self, answer: Answer | None) -> bool:
        if answer is not None and answer.blocks:
            await self.ack(text=answer.text, blocks=list(answer.blocks))
        else:
            await self.ack(text=self.saving if answer is None else answer.text)
        return True

    async def tell(self, answer: Answer) -> None:
        await whisper(
            self.services, self.command.spot, self.command.actor, answer.text, answer.blocks
        )


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
        spot, actor = self.click.spot, self.click.actor
        if self.click.is_in_home:
            await self._show_home(answer)
            return
        text = answer.text
        if answer.card is not None and spot.response_url is not None and spot.is_its_own:
            is_shown = await self._redraw(answer.card, spot.response_url)
            # Who draws the thread may be unable to edit it, too: then nothing else tells them.
            text = text if is_shown else text or answer.if_late
        await whisper(
            self.services,
            spot,
            actor,
            text,
            answer.blocks,
            is_in_place=answer.is_in_place,
        )

    async def _show_home(self, answer: Answer) -> None:
        """There is no message to redraw, nor a place beside it: they see it anew, and are told on top of it."""
        told = answer.text or answer.if_late
        if answer.card is not None and not told:
            return  # What is told of it follows.
        seen = self.click.view_hash
        await show_home(self.services, self.click.actor, seen=seen, notice=told)

    async def _redraw(self, card: Redrawn, url: str) -> bool:
        """Was it taken, as far as is known? It may land over a newer edit: whoever draws the thread is told of it
        before it is sent, and leaves the message be until they are told what became of it."""
        shown = {"text": card.message.text, "blocks": list(card.message.blocks)}
        threads, run_id = self.services.runtime.store.threads, card.run_id
        address, announced_at = self.click.spot.redrawn_at, card.announced_at
        is_taken = False
        try:
            if address is not None and announced_at is None:
                announced_at = await threads.announce(run_id, address)
            is_taken = await self.services.response_urls.send(
                url, {"replace_original": True, **shown}
            )
            if address is None or announced_at is None:
                return is_taken
            if is_taken:
                await threads.landed(run_id, address, announced_at, digest_of(card.message))
            else:
                # An answer that was lost may have been a yes, and may land yet.
                await threads.lost(run_id, address)
        except StoreError as error:
            _log.warning("A card of %s is shown a little later: %s", run_id, error)
        return is_taken


@dataclass(frozen=True, slots=True)
class Submitter:
    """Whoever sent off a modal. It belongs to no channel: what comes late is told them directly."""

    services: Services
    ack: AsyncAck
    submission: Submission
    #: The modal's.
    title: str
    saving: str

    async def acknowledge(self, answer: Answer | None) -> bool:
        if answer is None:
            await self.ack(response_action="update", view=notice_modal(self.title, self.saving))
        elif answer.errors:
            await self.ack(response_action="errors", errors=dict(answer.errors))
        elif answer.text:
            await self.ack(response_action="update", view=notice_modal(self.title, answer.text))
        else:
            await self.ack()
        if answer is not None and not answer.errors:
            self._show_home()
        return True

    async def tell(self, answer: Answer) -> None:
        """They were shown that it is being saved: the modal may be closed by now."""
        text = answer.text or "; ".join(answer.errors.values())
        if answer.card is None:
            self._show_home()
        await post(self.services, self.submission.actor.user, None, text)

    def _show_home(self) -> None:
        """As it is by now, where the modal was opened there."""
        if self.submission.is_from_home:
            self.services.answering.keep(show_home(self.services, self.submission.actor))


@dataclass(frozen=True, slots=True)
class Speaker:
    """Whoever wrote a message to us."""

    services: Services
    ack: AsyncAck
    message: Message
    #: Does the message have a thread by now, though it may have been said in none?
    has_thread: bool = False
    saving: str = ""

    async def acknowledge(self, answer: Answer | None) -> bool:
        await self.ack()
        return answer == Answer()

    async def tell(self, answer: Answer) -> None:
        message = self.message
        if message.is_direct:
            await post(self.services, message.channel, message.thread, answer.text)
            return
        # What only they see shows in a thread that there is: where the message opens none it is better said beside it.
        has_thread = self.has_thread or await self._has_opened(answer.begun)
        thread = message.thread if has_thread else message.thread_ts
        beside = Spot(channel=message.channel, thread_ts=thread)
        await whisper(self.services, beside, message.actor, answer.text)

    async def _has_opened(self, begun: RunId | None) -> bool:
        """Is there a thread below what the run began with? It is waited for."""
        if begun is None or self.message.thread_ts is not None:
            return False
        return await is_open(self.services.runtime.store.threads, begun)
