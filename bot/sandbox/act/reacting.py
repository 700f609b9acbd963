"""Reactions of people."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from bot.sandbox.act.asked import Asked
from bot.sandbox.act.outcome import told
from bot.sandbox.messages import Messages
from bot.sandbox.reactions import react, unreact
from bot.sandbox.state import Sandbox
from bot.sandbox.wire import Json, Refusal, SlackError

Change = Callable[[Messages, str, str, str, str], Json]


async def add(sandbox: Sandbox, asked: Asked) -> Json:
    return await _change(sandbox, asked, react, "added")


async def remove(sandbox: Sandbox, asked: Asked) -> Json:
    return await _change(sandbox, asked, unreact, "removed")


async def _change(
    sandbox: Sandbox, asked: Asked, change: Change, what: Literal["added", "removed"]
) -> Json:
    channel, user, name = asked.channel(), asked.user.id, asked.text("name").strip(":")
    try:
        message = change(sandbox.messages, channel.id, asked.text("ts"), user, name)
    except SlackError as error:
        status = 404 if "not_found" in error.code else 400
        raise Refusal(f"It can't be: {error.code}.", status) from error
    event = sandbox.events.reaction(what, user, channel, message, name)
    return await told(sandbox, channel, event)
