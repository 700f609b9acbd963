"""The channel that a call is about, and whether the app may do that there."""

from __future__ import annotations

from bot.sandbox.state import Sandbox
from bot.sandbox.webapi.arguments import Arguments
from bot.sandbox.wire import SlackError
from bot.sandbox.workspace import Channel


def named(sandbox: Sandbox, arguments: Arguments, argument: str = "channel") -> Channel:
    """By id, `#name` or a person's id. Raises `channel_not_found`."""
    return sandbox.workspace.channel(arguments.required(argument, "channel_not_found"))


def exact(sandbox: Sandbox, arguments: Arguments, argument: str = "channel") -> Channel:
    """By its id only, as Slack wants it wherever something there is already: `channel_not_found`."""
    channel_id = arguments.required(argument, "channel_not_found")
    if channel_id not in sandbox.workspace.channels:
        raise SlackError("channel_not_found")
    return sandbox.workspace.channel(channel_id)


def readable(sandbox: Sandbox, arguments: Arguments) -> Channel:
    """Raises `not_in_channel`, too."""
    channel = named(sandbox, arguments)
    if not channel.has_bot:
        raise SlackError("not_in_channel")
    return channel


def postable(channel: Channel, sandbox: Sandbox, arguments: Arguments) -> Channel:
    """Raises `is_archived`, `not_in_channel`, `user_disabled`, `restricted_action…`."""
    if channel.archived:
        raise SlackError("is_archived")
    if not channel.has_bot and "chat:write.public" not in arguments.scopes:
        raise SlackError("not_in_channel")
    if channel.kind == "im" and sandbox.workspace.users[channel.person].deleted:
        # conversations.open answers so; what chat.postMessage does is not verified.
        raise SlackError("user_disabled")
    thread_ts = arguments.text("thread_ts")
    if thread_ts and sandbox.messages.exists(channel.id, thread_ts):
        thread_ts = sandbox.messages.read(channel.id, thread_ts).get("thread_ts", thread_ts)
    sandbox.policies.check_posting(channel, thread_ts)
    return channel


def thread(sandbox: Sandbox, channel: Channel, ts: str, error: str) -> str:
    """The ts of a thread's parent, where that of a message in it was given; or the error."""
    if not sandbox.messages.exists(channel.id, ts):
        raise SlackError(error)
    return str(sandbox.messages.read(channel.id, ts).get("thread_ts", ts))
