"""From the shortcut to the modal that asks what is to be done."""

from __future__ import annotations

from dataclasses import replace

from slack_bolt.context.ack.async_ack import AsyncAck

from bot.slack.answering import Answer
from bot.slack.cards.ask_about import ASK_TITLE, ask_modal
from bot.slack.cards.modals import View
from bot.slack.cards.not_started import not_opened
from bot.slack.opening import open_when_drawn
from bot.slack.persons import Clicker
from bot.slack.quoting.pages import NotRead
from bot.slack.services import Services
from bot.slack.shortcut.conversation import conversation_for, find
from bot.slack.shortcut.payload import MessageShortcut
from bot.slack.shortcut.refusals import REFUSALS, is_elsewhere, why_not


async def open_by_shortcut(services: Services, ack: AsyncAck, shortcut: MessageShortcut) -> None:
    """Nothing is started by it. Whoever can't ask there is told so at once."""
    click = shortcut.click
    work = _open(services, shortcut)
    await services.answering.answer(Clicker(services, ack, click, saving=""), work, click.value)


async def _open(services: Services, shortcut: MessageShortcut) -> Answer:
    drawn = _drawn(services, shortcut)
    return await open_when_drawn(
        services, shortcut.click, drawn, button=ASK_TITLE, undone="started"
    )


async def _drawn(services: Services, shortcut: MessageShortcut) -> View | str:
    about = shortcut.about
    try:
        found = await find(services, about)
        conversation = await conversation_for(
            services, shortcut.click.actor, about, found, doing=None
        )
    except REFUSALS as error:
        if isinstance(error, NotRead) and is_elsewhere(error):
            return not_opened(error.code or "", (await services.people.home()).bot_user)
        return f"Nothing was started: {why_not(error)}"
    seen = replace(about, seen=found.said_at)
    return ask_modal(
        seen, found.quote.text, is_at_work=conversation.is_at_work, agents=conversation.agents
    )
