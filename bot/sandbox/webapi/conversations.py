"""conversations.* and reactions.add."""

from __future__ import annotations

from bot.sandbox.state import Sandbox
from bot.sandbox.webapi.arguments import Arguments, page_of
from bot.sandbox.wire import Json, SlackError
from bot.sandbox.workspace import BOT_USER, Channel


def open_direct(sandbox: Sandbox, arguments: Arguments) -> Json:
    users = [user for user in arguments.text("users").split(",") if user]
    if len(users) != 1:
        # Several people would make a group message, which this workspace has none of.
        raise SlackError("users_list_not_supplied" if not users else "too_many_users")
    if sandbox.workspace.user(users[0]).deleted:
        raise SlackError("user_disabled")
    channel = sandbox.workspace.direct(users[0])
    full = channel.as_slack() if arguments.flag("return_im") else {"id": channel.id}
    return {"channel": full, "no_op": True, "already_open": True}


def info(sandbox: Sandbox, arguments: Arguments) -> Json:
    return {"channel": _channel(sandbox, arguments).as_slack()}


def list_channels(sandbox: Sandbox, arguments: Arguments) -> Json:
    types = arguments.text("types", "public_channel").split(",")
    names = {"public": "public_channel", "private": "private_channel", "im": "im"}
    found = [
        channel.as_slack()
        for channel in sandbox.workspace.channels.values()
        if names[channel.kind] in types
        and (channel.kind != "private" or BOT_USER in channel.members)
    ]
    page, cursor = page_of(found, arguments, 100)
    return {"channels": page, "response_metadata": {"next_cursor": cursor}}


def join(sandbox: Sandbox, arguments: Arguments) -> Json:
    channel = _channel(sandbox, arguments)
    if channel.kind != "public":
        raise SlackError("method_not_supported_for_channel_type")
    if BOT_USER not in channel.members:
        channel.members.append(BOT_USER)
    return {"channel": channel.as_slack()}


def members(sandbox: Sandbox, arguments: Arguments) -> Json:
    page, cursor = page_of(_channel(sandbox, arguments).members, arguments, 100)
    return {"members": page, "response_metadata": {"next_cursor": cursor}}


def history(sandbox: Sandbox, arguments: Arguments) -> Json:
    channel = _readable(sandbox, arguments)
    metadata = arguments.flag("include_all_metadata")
    every = sandbox.messages.top_level(channel.id, metadata=metadata)
    newest_first = [one for one in reversed(every) if _within(one, arguments)]
    page, cursor = page_of(newest_first, arguments, 100)
    return {"messages": page, **_more(cursor)}


def replies(sandbox: Sandbox, arguments: Arguments) -> Json:
    channel = _readable(sandbox, arguments)
    ts = arguments.required("ts", "thread_not_found")
    if not sandbox.messages.exists(channel.id, ts):
        raise SlackError("thread_not_found")
    metadata = arguments.flag("include_all_metadata")
    parent, *answers = sandbox.messages.thread(channel.id, ts, metadata=metadata)
    # The parent comes along whatever the bounds.
    every = [parent, *(one for one in answers if _within(one, arguments))]
    page, cursor = page_of(every, arguments, 1000)
    return {"messages": page, **_more(cursor)}


def add_reaction(sandbox: Sandbox, arguments: Arguments) -> Json:
    channel = _readable(sandbox, arguments)
    name = arguments.required("name", "no_reaction_specified")
    message = sandbox.messages.read(channel.id, arguments.required("timestamp", "bad_timestamp"))
    reactions = message.get("reactions", [])
    reaction = next((one for one in reactions if one["name"] == name), None)
    if reaction is not None and BOT_USER in reaction["users"]:
        raise SlackError("already_reacted")
    if reaction is None:
        reaction = {"name": name, "users": [], "count": 0}
        reactions.append(reaction)
    reaction["users"].append(BOT_USER)
    reaction["count"] = len(reaction["users"])
    sandbox.messages.change(channel.id, message["ts"], reactions=reactions)
    return {}


def _channel(sandbox: Sandbox, arguments: Arguments) -> Channel:
    return sandbox.workspace.channel(arguments.required("channel", "channel_not_found"))


def _readable(sandbox: Sandbox, arguments: Arguments) -> Channel:
    channel = _channel(sandbox, arguments)
    if BOT_USER not in channel.members:
        raise SlackError("not_in_channel")
    return channel


def _within(message: Json, arguments: Arguments) -> bool:
    """Between `oldest` and `latest`; the bounds themselves only if `inclusive`."""
    ts = float(message["ts"])
    try:
        oldest = float(arguments.text("oldest") or 0)
        latest = float(arguments.text("latest") or "inf")
    except ValueError:
        raise SlackError("invalid_ts_oldest") from None
    if arguments.flag("inclusive"):
        return oldest <= ts <= latest
    return oldest < ts < latest


def _more(cursor: str) -> Json:
    if not cursor:
        return {"has_more": False}
    return {"has_more": True, "response_metadata": {"next_cursor": cursor}}
