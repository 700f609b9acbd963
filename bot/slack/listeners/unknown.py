"""What this version does not know: acknowledged all the same, and the person is told."""

from __future__ import annotations

import re
from typing import Any

from slack_bolt.async_app import AsyncApp
from slack_bolt.context.ack.async_ack import AsyncAck

from bot.slack.cards.modals import notice_modal
from bot.slack.help import UNKNOWN_BUTTON, UNKNOWN_COMMAND, UNKNOWN_MODAL
from bot.slack.payloads import actor_of, spot_of
from bot.slack.services import Services
from bot.slack.telling import whisper


async def unknown_command(ack: AsyncAck) -> None:
    await ack(text=UNKNOWN_COMMAND)


async def unknown_button(ack: AsyncAck, body: dict[str, Any], services: Services) -> None:
    await ack()
    if actor := actor_of(body):
        services.answering.keep(whisper(services, spot_of(body), actor, UNKNOWN_BUTTON))


async def unknown_modal(ack: AsyncAck) -> None:
    await ack(response_action="update", view=notice_modal("Not known", UNKNOWN_MODAL))


async def nothing_to_say(ack: AsyncAck) -> None:
    """For what nobody waits for: an event, a modal that was closed."""
    await ack()


async def no_options(ack: AsyncAck) -> None:
    """For a menu that asks what it offers."""
    await ack(options=[])


def register(app: AsyncApp) -> None:
    anything = re.compile(r"(?s).*")
    app.command(anything)(unknown_command)
    app.action(anything)(unknown_button)
    app.view(anything)(unknown_modal)
    app.view_closed(anything)(nothing_to_say)
    app.shortcut(anything)(unknown_button)
    app.options(anything)(no_options)
    app.event(anything)(nothing_to_say)
