"""chat.*: messages of the app."""

from __future__ import annotations

from bot.sandbox.content import Content
from bot.sandbox.limits.ids import note_duplicates
from bot.sandbox.state import Sandbox
from bot.sandbox.webapi.arguments import Arguments
from bot.sandbox.webapi.places import exact, named, postable
from bot.sandbox.wire import Json, SlackError
from bot.sandbox.workspace import Channel

STRUCTURES = ("blocks", "attachments", "metadata")


def post_message(sandbox: Sandbox, arguments: Arguments) -> Json:
    """`client_msg_id` is ignored: whether Slack takes a second one for the same is not verified."""
    channel = postable(named(sandbox, arguments), sandbox, arguments)
    thread_ts = arguments.text("thread_ts") or None
    content = _content(sandbox, arguments, "chat.postMessage")
    broadcast = arguments.flag("reply_broadcast")
    message = sandbox.posting.post(channel, content, thread_ts, broadcast=broadcast)
    sandbox.sessions.spoke(channel.id, message.get("thread_ts"))
    _note_reply_as_parent(sandbox, thread_ts, message)
    message.pop("metadata", None)
    return {"channel": channel.id, "ts": message["ts"], "message": message, **_warning(content)}


def update(sandbox: Sandbox, arguments: Arguments) -> Json:
    channel = exact(sandbox, arguments)
    ts = arguments.required("ts", "message_not_found")
    if channel.archived:
        raise SlackError("is_inactive")
    before = sandbox.posting.own(channel, ts, "cant_update_message")
    sandbox.streams.check_editable(channel, ts)
    sandbox.policies.check_editing(sandbox.clock() - float(before["ts"]))
    message = _edit(sandbox, arguments, channel, ts)
    message.pop("metadata", None)
    return {"channel": channel.id, "ts": ts, "text": message["text"], "message": message}


def _edit(sandbox: Sandbox, arguments: Arguments, channel: Channel, ts: str) -> Json:
    said = any(arguments.given.get(name) for name in ("text", "markdown_text", *STRUCTURES))
    if not arguments.flag("reply_broadcast"):
        content = _content(sandbox, arguments, "chat.update")
        content.retained = _retained(arguments)
        return sandbox.posting.update(channel, ts, content)
    if said:
        raise SlackError("no_dual_broadcast_content_update")
    return sandbox.posting.broadcast(channel, ts)


def _retained(arguments: Arguments) -> frozenset[str]:
    """What stays as it is, since the update says nothing of it."""
    given = arguments.given
    retained = set() if given.get("attachments") is not None else {"attachments"}
    if not (given.get("text") or given.get("markdown_text") or given.get("blocks") is not None):
        # That the text stays with the blocks is a guess.
        retained |= {"text", "blocks"}
    return frozenset(retained)


def delete(sandbox: Sandbox, arguments: Arguments) -> Json:
    """What Slack says in an archived channel is not verified: here the message is deleted."""
    channel = exact(sandbox, arguments)
    ts = arguments.required("ts", "message_not_found")
    sandbox.posting.delete(channel, ts)
    return {"channel": channel.id, "ts": ts}


def post_ephemeral(sandbox: Sandbox, arguments: Arguments) -> Json:
    channel = postable(named(sandbox, arguments), sandbox, arguments)
    user = sandbox.workspace.users.get(arguments.text("user"))
    if user is None or user.id not in channel.members:
        raise SlackError("user_not_in_channel")
    thread_ts = arguments.text("thread_ts") or None
    content = _content(sandbox, arguments, "chat.postEphemeral")
    if content.truncated:
        raise SlackError("msg_too_long")
    message = sandbox.posting.post_ephemeral(user.id, channel, content, thread_ts)
    return {"message_ts": message["ts"]}


def get_permalink(sandbox: Sandbox, arguments: Arguments) -> Json:
    channel = named(sandbox, arguments)
    ts = arguments.required("message_ts", "message_not_found")
    message = sandbox.messages.read(channel.id, ts)
    link = f"{sandbox.base_url}/archives/{channel.id}/p{ts.replace('.', '')}"
    if message.get("thread_ts", ts) != ts:
        link += f"?thread_ts={message['thread_ts']}&cid={channel.id}"
    return {"channel": channel.id, "permalink": link}


def author_of(arguments: Arguments) -> Json:
    """A name and picture for this message, where the token may have them: else they are ignored."""
    if "chat:write.customize" not in arguments.scopes:
        return {}
    author: Json = {}
    if name := arguments.text("username"):
        author["username"] = name
    if emoji := arguments.text("icon_emoji"):
        author["icons"] = {"emoji": emoji}
    elif url := arguments.text("icon_url"):
        author["icons"] = {"image_48": url}
    return author


def _content(sandbox: Sandbox, arguments: Arguments, method: str) -> Content:
    parsed = {name: arguments.parsed(name) for name in STRUCTURES}
    said = {name: arguments.given.get(name) for name in ("text", "markdown_text")}
    content = Content.parse(said | parsed, sandbox.ids, sandbox.guesses)
    content.author = author_of(arguments)
    note_duplicates(sandbox.record, content.blocks, method)
    return content


def _warning(content: Content) -> Json:
    if not content.truncated:
        return {}
    warning = "message_truncated"
    return {"warning": warning, "response_metadata": {"warnings": [warning]}}


def _note_reply_as_parent(sandbox: Sandbox, thread_ts: str | None, message: Json) -> None:
    if thread_ts and message["thread_ts"] != thread_ts:
        detail = f"thread_ts {thread_ts} is a reply; its parent is {message['thread_ts']}"
        sandbox.record.violation("reply_used_as_thread", detail, "chat.postMessage")
