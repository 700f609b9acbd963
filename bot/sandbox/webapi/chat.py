"""chat.*: messages of the app."""

from __future__ import annotations

from bot.sandbox.posting import Content
from bot.sandbox.state import Sandbox
from bot.sandbox.webapi.arguments import Arguments
from bot.sandbox.wire import Json, SlackError
from bot.sandbox.workspace import BOT_USER, Channel


def post_message(sandbox: Sandbox, arguments: Arguments) -> Json:
    channel = _joined(sandbox, arguments)
    thread_ts = arguments.text("thread_ts") or None
    message = sandbox.posting.post(
        channel, _content(arguments), thread_ts, broadcast=arguments.flag("reply_broadcast")
    )
    _note_reply_as_parent(sandbox, thread_ts, message)
    message.pop("metadata", None)
    return {"channel": channel.id, "ts": message["ts"], "message": message}


def update(sandbox: Sandbox, arguments: Arguments) -> Json:
    channel = _exact_channel(sandbox, arguments)
    ts = arguments.required("ts", "message_not_found")
    message = sandbox.posting.update(channel, ts, _content(arguments))
    message.pop("metadata", None)
    return {"channel": channel.id, "ts": ts, "text": message["text"], "message": message}


def delete(sandbox: Sandbox, arguments: Arguments) -> Json:
    channel = _exact_channel(sandbox, arguments)
    ts = arguments.required("ts", "message_not_found")
    sandbox.posting.delete(channel, ts)
    return {"channel": channel.id, "ts": ts}


def post_ephemeral(sandbox: Sandbox, arguments: Arguments) -> Json:
    channel = _joined(sandbox, arguments)
    user = sandbox.workspace.users.get(arguments.text("user"))
    if user is None or user.id not in channel.members:
        raise SlackError("user_not_in_channel")
    thread_ts = arguments.text("thread_ts") or None
    message = sandbox.posting.post_ephemeral(user.id, channel, _content(arguments), thread_ts)
    return {"message_ts": message["ts"]}


def get_permalink(sandbox: Sandbox, arguments: Arguments) -> Json:
    channel = sandbox.workspace.channel(arguments.required("channel", "channel_not_found"))
    ts = arguments.required("message_ts", "message_not_found")
    message = sandbox.messages.read(channel.id, ts)
    link = f"{sandbox.base_url}/archives/{channel.id}/p{ts.replace('.', '')}"
    if message.get("thread_ts", ts) != ts:
        link += f"?thread_ts={message['thread_ts']}&cid={channel.id}"
    return {"channel": channel.id, "permalink": link}


def _joined(sandbox: Sandbox, arguments: Arguments) -> Channel:
    channel = sandbox.workspace.channel(arguments.required("channel", "channel_not_found"))
    if BOT_USER not in channel.members:
        raise SlackError("not_in_channel")
    return channel


def _exact_channel(sandbox: Sandbox, arguments: Arguments) -> Channel:
    """By its id only: to edit, Slack takes neither a name nor a person's id."""
    channel_id = arguments.required("channel", "channel_not_found")
    if channel_id not in sandbox.workspace.channels:
        raise SlackError("channel_not_found")
    return sandbox.workspace.channel(channel_id)


def _content(arguments: Arguments) -> Content:
    structures = ("blocks", "attachments", "metadata")
    parsed = {name: arguments.parsed(name) for name in structures}
    return Content.parse({"text": arguments.given.get("text"), **parsed})


def _note_reply_as_parent(sandbox: Sandbox, thread_ts: str | None, message: Json) -> None:
    if thread_ts and message["thread_ts"] != thread_ts:
        detail = f"thread_ts {thread_ts} is a reply; its parent is {message['thread_ts']}"
        sandbox.record.violation("reply_used_as_thread", detail, "chat.postMessage")
