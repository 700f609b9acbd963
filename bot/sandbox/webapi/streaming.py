"""chat.startStream, chat.appendStream, chat.stopStream."""

from __future__ import annotations

from bot.sandbox.chunks import Display, Draft, Mode, check_chunks, text_chunk
from bot.sandbox.content import Content
from bot.sandbox.limits.ids import note_duplicates
from bot.sandbox.sessions import STATUSES
from bot.sandbox.state import Sandbox
from bot.sandbox.webapi.arguments import Arguments
from bot.sandbox.webapi.chat import author_of
from bot.sandbox.webapi.places import exact, named, postable
from bot.sandbox.wire import Json, SlackError
from bot.sandbox.workspace import Channel

DISPLAYS: dict[str, Display] = {"timeline": "timeline", "plan": "plan"}


def start(sandbox: Sandbox, arguments: Arguments) -> Json:
    channel = postable(named(sandbox, arguments), sandbox, arguments)
    thread_ts = _thread(sandbox, channel, arguments)
    recipient = _recipient(sandbox, channel, arguments)
    draft = Draft(_display(arguments))
    chunks, mode = _said(arguments)
    draft.add(chunks, mode, sandbox.ids)
    author = author_of(arguments)
    message = sandbox.streams.start(channel, thread_ts, recipient, draft, author)
    root = str(message.get("thread_ts", message["ts"]))
    sandbox.sessions.spoke(channel.id, root)
    sandbox.sessions.set_status(channel.id, root, "processing", initiator=recipient or "")
    return {"channel": channel.id, "ts": message["ts"]}


def append(sandbox: Sandbox, arguments: Arguments) -> Json:
    channel, ts = _message(sandbox, arguments)
    chunks, mode = _said(arguments)
    if not chunks:
        raise SlackError("markdown_text_or_chunks_required")
    sandbox.streams.append(channel, ts, chunks, mode)
    return {"channel": channel.id, "ts": ts}


def stop(sandbox: Sandbox, arguments: Arguments) -> Json:
    channel, ts = _message(sandbox, arguments)
    chunks, mode = _said(arguments)
    status = arguments.text("session_status", "active")
    if status not in STATUSES:
        # The method's page lists the values, and no error of its own.
        raise SlackError("invalid_arguments", ["[ERROR] invalid `session_status`"])
    message = sandbox.streams.stop(channel, ts, chunks, mode, _last(sandbox, arguments))
    note_duplicates(sandbox.record, message.get("blocks", []), "chat.stopStream")
    root = message.get("thread_ts", ts)
    sandbox.sessions.set_status(channel.id, root, status)
    message.pop("metadata", None)
    return {"channel": channel.id, "ts": ts, "message": message}


def _said(arguments: Arguments) -> tuple[list[Json], Mode]:
    """Chunks, and in which of the two ways they came; nothing at all is an empty list."""
    text = arguments.text("markdown_text")
    chunks = arguments.parsed("chunks") or []
    if text and chunks:
        raise SlackError("cannot_provide_both_markdown_text_and_chunks")
    if text:
        return check_chunks([text_chunk(text)]), "text"
    return check_chunks(chunks), "chunks"


def _last(sandbox: Sandbox, arguments: Arguments) -> Content:
    """What comes below all that was streamed."""
    said = {name: arguments.parsed(name) for name in ("blocks", "metadata")}
    return Content.parse(said, sandbox.ids, sandbox.guesses, may_be_empty=True)


def _message(sandbox: Sandbox, arguments: Arguments) -> tuple[Channel, str]:
    channel = exact(sandbox, arguments)
    if channel.archived:
        raise SlackError("is_archived")
    if not channel.has_bot:
        raise SlackError("not_in_channel")
    return channel, arguments.required("ts", "message_not_found")


def _thread(sandbox: Sandbox, channel: Channel, arguments: Arguments) -> str | None:
    thread_ts = arguments.text("thread_ts")
    # People report: at top level Slack streams in channels only, and so it says where not.
    if not thread_ts and channel.is_direct:
        raise SlackError("invalid_thread_ts")
    if thread_ts and not sandbox.messages.exists(channel.id, thread_ts):
        raise SlackError("invalid_thread_ts")
    return thread_ts or None


def _recipient(sandbox: Sandbox, channel: Channel, arguments: Arguments) -> str | None:
    if channel.kind == "im":
        return None
    user = arguments.required("recipient_user_id", "missing_recipient_user_id")
    team = arguments.required("recipient_team_id", "missing_recipient_team_id")
    if sandbox.workspace.user(user).team_id != team:
        raise SlackError("user_not_found")
    return user


def _display(arguments: Arguments) -> Display:
    display = DISPLAYS.get(arguments.text("task_display_mode", "timeline"))
    if display is None:
        raise SlackError("invalid_arguments", ["[ERROR] invalid `task_display_mode`"])
    return display
