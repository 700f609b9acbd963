"""files.*: upload by an address of Slack's, share, look up, delete."""

from __future__ import annotations

import asyncio
import re
from functools import partial

from bot.sandbox.content import Content
from bot.sandbox.files import File, tombstone
from bot.sandbox.state import Sandbox
from bot.sandbox.webapi.arguments import Arguments
from bot.sandbox.webapi.places import postable
from bot.sandbox.wire import Json, SlackError
from bot.sandbox.workspace import BOT_USER, Channel

COMPLETE = "files.completeUploadExternal"
ALT_TEXT = 1000
SNIPPET_BYTES = 1024 * 1024


def get_upload_url(sandbox: Sandbox, arguments: Arguments) -> Json:
    name = arguments.required("filename", "missing_argument")
    length = arguments.number("length", 0)
    alt_text = arguments.text("alt_txt")
    if length < 1:
        raise SlackError("missing_argument")
    if len(alt_text) > ALT_TEXT:
        raise SlackError("alt_txt_too_large")
    if arguments.text("snippet_type") and length > SNIPPET_BYTES:
        raise SlackError("snippet_too_large")
    file = sandbox.files.announce(name, length, alt_text)
    return {"file_id": file.id, "upload_url": f"{sandbox.base_url}/upload/v1/{file.secret}"}


def complete_upload(sandbox: Sandbox, arguments: Arguments) -> Json:
    """Shared at once, unless a fault says otherwise: Slack first looks through the files and shares them a
    little later, or now and then, as was seen, not at all."""
    given = arguments.parsed("files")
    if not isinstance(given, list) or not given or not all(isinstance(one, dict) for one in given):
        raise SlackError("invalid_arguments", ["[ERROR] missing required field: files"])
    files = [sandbox.files.uploaded(str(one.get("id"))) for one in given]
    channels = _channels(sandbox, arguments)
    if arguments.text("thread_ts") and len(channels) > 1:
        raise SlackError("invalid_arguments", ["[ERROR] one channel with `thread_ts`"])
    content = _comment(sandbox, arguments)
    for file, one in zip(files, given, strict=True):
        file.title = str(one.get("title") or file.name)
        file.completed = True
    share = partial(
        _share_in, sandbox, channels, files, content, arguments.text("thread_ts") or None
    )
    becomes = sandbox.faults.take_sharing(COMPLETE, arguments.given)
    if (late := becomes.get("share_after")) is not None:
        asyncio.get_running_loop().call_later(late.value, share)
    elif "unshared" not in becomes:
        share()
    return {"files": [_shown(sandbox, file) for file in files]}


def info(sandbox: Sandbox, arguments: Arguments) -> Json:
    file = sandbox.files.get(arguments.required("file", "file_not_found"))
    return {"file": _shown(sandbox, file), "comments": [], "response_metadata": {"next_cursor": ""}}


def delete(sandbox: Sandbox, arguments: Arguments) -> Json:
    """Its messages stay, with a tombstone in its place."""
    file = sandbox.files.get(arguments.required("file", "file_not_found"))
    file.deleted, file.content = True, None
    for channel, shared in file.shares:
        if sandbox.messages.exists(channel.id, shared["ts"]):
            # A message that was deleted itself, under a thread, has no files any more.
            shown = sandbox.messages.read(channel.id, shared["ts"]).get("files", [])
            files = [tombstone(file) if one["id"] == file.id else one for one in shown]
            if files:
                sandbox.posting.change(channel, shared["ts"], {"files": files})
        told = {"file_id": file.id, "channel_id": channel.id}
        sandbox.outbox.publish(sandbox.events.happened("file_deleted", channel, told))
    return {}


def _share_in(
    sandbox: Sandbox,
    channels: list[Channel],
    files: list[File],
    content: Content,
    thread_ts: str | None,
) -> None:
    left = [file for file in files if not file.deleted]
    for channel in channels if left else ():
        _share(sandbox, channel, left, content, thread_ts)


def _share(
    sandbox: Sandbox, channel: Channel, files: list[File], content: Content, thread_ts: str | None
) -> None:
    shown = [_shown(sandbox, file) for file in files]
    more: Json = {"subtype": "file_share", "files": shown, "upload": True, "display_as_bot": False}
    message = sandbox.posting.post(channel, content, thread_ts, **more)
    sandbox.sessions.spoke(channel.id, message.get("thread_ts"))
    for file in files:
        file.shares.append((channel, message))
        sandbox.outbox.publish(sandbox.events.file_shared(file.id, BOT_USER, channel))


def _channels(sandbox: Sandbox, arguments: Arguments) -> list[Channel]:
    """Where to share; nowhere is right, too: then only the app sees the files."""
    wanted = [one for one in [arguments.text("channel_id")] if one] or arguments.listed("channels")
    found = []
    for channel_id in wanted:
        if not re.fullmatch(r"[CGDZ][A-Z0-9]+", channel_id):
            what = "input must match regex pattern: ^[CGDZ][A-Z0-9]{8,}$"
            raise SlackError("invalid_arguments", [f"[ERROR] {what} [json-pointer:/channel_id]"])
        if channel_id not in sandbox.workspace.channels:
            raise SlackError("channel_not_found")
        channel = sandbox.workspace.channel(channel_id)
        if not channel.has_bot:
            raise SlackError("not_in_channel")
        found.append(postable(channel, sandbox, arguments))
    thread_ts = arguments.text("thread_ts")
    for channel in found:
        if thread_ts and not sandbox.messages.exists(channel.id, thread_ts):
            raise SlackError("thread_not_found")
    return found


def _comment(sandbox: Sandbox, arguments: Arguments) -> Content:
    """Without a comment and blocks it is a message without words."""
    comment = arguments.text("initial_comment")
    said = {"text": comment, "blocks": None if comment else arguments.parsed("blocks")}
    return Content.parse(said, sandbox.ids, sandbox.guesses, may_be_empty=True)


def _shown(sandbox: Sandbox, file: File) -> Json:
    return sandbox.files.as_slack(file, sandbox.base_url)
