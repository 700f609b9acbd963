"""Slash commands, and what an app answers to one in its acknowledgement."""

from __future__ import annotations

from bot.sandbox.act.asked import Asked
from bot.sandbox.act.outcome import open_view_ids, outcome, refused, said_in, with_new_view
from bot.sandbox.act.typing import as_sent
from bot.sandbox.delivery import interactive
from bot.sandbox.escaping import escape
from bot.sandbox.interactions.response_urls import Origin
from bot.sandbox.responses import respond
from bot.sandbox.state import Sandbox
from bot.sandbox.wire import Json, Refusal, SlackError


async def command(sandbox: Sandbox, asked: Asked) -> Json:
    channel, user = asked.channel(), asked.user
    name = asked.text("command")
    if not name.startswith("/"):
        raise Refusal("A command begins with a slash.", 400)
    before = open_view_ids(sandbox, user.id)
    origin = Origin(user.id, channel.id)
    text = asked.optional("text") or ""
    is_escaped = sandbox.policies.commands_escaped
    payload = interactive.slash_command(
        user,
        channel,
        name,
        as_sent(text, sandbox.workspace) if is_escaped else escape(text),
        trigger_id=sandbox.triggers.issue(user.id),
        response_url=sandbox.base_url + sandbox.response_urls.issue(origin),
    )
    answer = await sandbox.outbox.interact("slash_commands", payload)
    body = outcome(answer)
    if said := said_in(answer):
        try:
            respond(sandbox, origin, said)
        except SlackError as error:
            body |= refused(sandbox, f"the answer to {name}", error)
    return with_new_view(sandbox, user.id, before, body)
