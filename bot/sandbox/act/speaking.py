"""Messages, commands, and opening App Home."""

from __future__ import annotations

from bot.sandbox.act.asked import Asked
from bot.sandbox.act.outcome import open_view_ids, outcome, with_new_view
from bot.sandbox.act.typing import as_blocks, as_sent, escape
from bot.sandbox.delivery import interactive
from bot.sandbox.delivery.outbox import Answer
from bot.sandbox.delivery.transport import Reply
from bot.sandbox.interactions.response_urls import Origin
from bot.sandbox.responses import respond
from bot.sandbox.state import Sandbox
from bot.sandbox.wire import Json, Refusal, SlackError


async def message(sandbox: Sandbox, asked: Asked) -> Json:
    channel = asked.channel()
    thread_ts = asked.optional("thread_ts")
    if thread_ts and not sandbox.messages.exists(channel.id, thread_ts):
        raise Refusal(f"No message {thread_ts} in {channel.id}.")
    text = as_sent(asked.text("text"), sandbox.workspace)
    posted, events = sandbox.posting.say(asked.user, channel, text, as_blocks(text), thread_ts)
    if events:
        answer = await sandbox.outbox.publish_and_wait(events)
    else:
        answer = Answer(Reply(False, why="the app is not in this channel"), 0)
    return outcome(answer) | {"channel": channel.id, "ts": posted["ts"]}


async def command(sandbox: Sandbox, asked: Asked) -> Json:
    channel = asked.channel()
    name = asked.text("command")
    if not name.startswith("/"):
        raise Refusal("A command begins with a slash.", 400)
    user = asked.user
    before = open_view_ids(sandbox, user.id)
    origin = Origin(user.id, channel.id)
    payload = interactive.slash_command(
        user,
        channel,
        name,
        escape(asked.optional("text") or ""),
        trigger_id=sandbox.triggers.issue(user.id),
        response_url=sandbox.base_url + sandbox.response_urls.issue(origin),
    )
    answer = await sandbox.outbox.interact("slash_commands", payload)
    if answer.reply.body:
        _show_answer(sandbox, origin, name, answer.reply.body)
    return with_new_view(sandbox, user.id, before, outcome(answer))


async def home(sandbox: Sandbox, asked: Asked) -> Json:
    user = asked.user
    channel = sandbox.workspace.direct(user.id)
    payload = sandbox.events.home_opened(user.id, channel, sandbox.views.homes.get(user.id))
    return outcome(await sandbox.outbox.publish_and_wait([payload]))


def _show_answer(sandbox: Sandbox, origin: Origin, command_name: str, body: Json) -> None:
    """The acknowledgement of a command may itself say something."""
    try:
        respond(sandbox, origin, body)
    except SlackError as error:
        detail = f"the answer to {command_name}: {error.code} {' '.join(error.messages)}"
        sandbox.record.violation("limit", detail)
