"""Shortcuts: global ones, and those in the menu of a message."""

from __future__ import annotations

from bot.sandbox.act.asked import Asked
from bot.sandbox.act.outcome import open_view_ids, outcome, with_new_view
from bot.sandbox.act.spot import visible_message
from bot.sandbox.delivery import interactive
from bot.sandbox.interactions.response_urls import Origin
from bot.sandbox.state import Sandbox
from bot.sandbox.wire import Json


async def shortcut(sandbox: Sandbox, asked: Asked) -> Json:
    """Of a message where one is named."""
    before = open_view_ids(sandbox, asked.user.id)
    payload = _of_a_message(sandbox, asked) if asked.optional("ts") else _global(sandbox, asked)
    answer = await sandbox.outbox.interact("interactive", payload)
    return with_new_view(sandbox, asked.user.id, before, outcome(answer))


def _global(sandbox: Sandbox, asked: Asked) -> Json:
    return interactive.global_shortcut(
        asked.user,
        asked.text("callback_id"),
        action_ts=sandbox.messages.next_ts(),
        trigger_id=sandbox.triggers.issue(asked.user.id),
    )


def _of_a_message(sandbox: Sandbox, asked: Asked) -> Json:
    channel, ts = asked.channel(), asked.text("ts")
    message = visible_message(sandbox, channel.id, ts, asked.user.id)
    # A response is a message of its own: a shortcut has no original that it could replace.
    origin = Origin(asked.user.id, channel.id)
    return interactive.message_shortcut(
        asked.user,
        channel,
        message,
        asked.text("callback_id"),
        action_ts=sandbox.messages.next_ts(),
        trigger_id=sandbox.triggers.issue(asked.user.id),
        response_url=sandbox.base_url + sandbox.response_urls.issue(origin),
    )
