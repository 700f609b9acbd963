"""conversations.*: channels and direct messages, who is in them and what was said there."""

from __future__ import annotations

from bot.sandbox.state import Sandbox
from bot.sandbox.webapi.arguments import Arguments, as_cursor, limit_of, page_of, read_cursor
from bot.sandbox.webapi.places import named, readable
from bot.sandbox.wire import Json, SlackError
from bot.sandbox.workspace import BOT_USER, LISTED_TYPES, MOST_IN_A_GROUP_MESSAGE, Channel


def open_direct(sandbox: Sandbox, arguments: Arguments) -> Json:
    channel, is_new = _direct(sandbox, arguments)
    full = channel.as_slack() if arguments.flag("return_im") else {"id": channel.id}
    return {"channel": full, **({} if is_new else {"no_op": True, "already_open": True})}


def _direct(sandbox: Sandbox, arguments: Arguments) -> tuple[Channel, bool]:
    """With one person or several; True if it was opened by this call."""
    if arguments.text("channel"):
        channel = named(sandbox, arguments)
        if not channel.is_direct:
            raise SlackError("method_not_supported_for_channel_type")
        return channel, False
    people = list(dict.fromkeys(arguments.listed("users")))
    if not people:
        raise SlackError("users_list_not_supplied")
    if len(people) > MOST_IN_A_GROUP_MESSAGE:
        raise SlackError("too_many_users")
    for person in people:
        user = sandbox.workspace.user(person)
        if user.is_bot:
            raise SlackError("cannot_dm_bot")
        if user.deleted:
            raise SlackError("user_disabled")
    if len(people) == 1:
        return sandbox.workspace.direct(people[0]), False
    if (group := sandbox.workspace.group_message(people)) is not None:
        return group, False
    if arguments.flag("prevent_creation"):
        # Slack's page says what the argument is for, and not what comes back then.
        raise SlackError("channel_not_found")
    # Whoever is in it sees it from now on.
    sandbox.record.touch()
    return sandbox.workspace.open_group_message(people), True


def info(sandbox: Sandbox, arguments: Arguments) -> Json:
    return {"channel": named(sandbox, arguments).as_slack()}


def list_channels(sandbox: Sandbox, arguments: Arguments) -> Json:
    types = arguments.listed("types") or ["public_channel"]
    if not set(types) <= set(LISTED_TYPES.values()):
        raise SlackError("invalid_types")
    found = [
        channel.as_slack()
        for channel in sandbox.workspace.channels.values()
        if LISTED_TYPES[channel.kind] in types
        and (channel.kind == "public" or channel.has_bot)
        and not (channel.archived and arguments.flag("exclude_archived"))
    ]
    page, cursor = page_of(found, arguments, 100)
    return {"channels": page, "response_metadata": {"next_cursor": cursor}}


def join(sandbox: Sandbox, arguments: Arguments) -> Json:
    channel = named(sandbox, arguments)
    if channel.kind != "public":
        raise SlackError("method_not_supported_for_channel_type")
    if channel.archived:
        raise SlackError("is_archived")
    if sandbox.membership.join(channel):
        return {"channel": channel.as_slack()}
    warning = "already_in_channel"
    warned = {"warning": warning, "response_metadata": {"warnings": [warning]}}
    return {"channel": channel.as_slack(), **warned}


def leave(sandbox: Sandbox, arguments: Arguments) -> Json:
    channel = named(sandbox, arguments)
    if channel.is_direct:
        raise SlackError("method_not_supported_for_channel_type")
    if channel.archived:
        raise SlackError("is_archived")
    if channel.members == [BOT_USER]:
        raise SlackError("last_member")
    return {} if sandbox.membership.leave(channel) else {"not_in_channel": True}


def members(sandbox: Sandbox, arguments: Arguments) -> Json:
    page, cursor = page_of(named(sandbox, arguments).members, arguments, 100)
    return {"members": page, "response_metadata": {"next_cursor": cursor}}


def history(sandbox: Sandbox, arguments: Arguments) -> Json:
    channel = readable(sandbox, arguments)
    metadata = arguments.flag("include_all_metadata")
    every = sandbox.messages.top_level(channel.id, metadata=metadata)
    newest_first = _within(every, arguments)[::-1]
    if cursor := read_cursor(arguments):
        newest_first = [one for one in newest_first if float(one["ts"]) <= float(cursor)]
    page = _page(newest_first, arguments, 100)
    return {**page, "pin_count": 0, "channel_actions_ts": None, "channel_actions_count": 0}


def replies(sandbox: Sandbox, arguments: Arguments) -> Json:
    """Of a parent, the thread; of any other message, that one alone."""
    channel = readable(sandbox, arguments)
    ts = arguments.required("ts", "thread_not_found")
    if not sandbox.messages.exists(channel.id, ts):
        raise SlackError("thread_not_found")
    metadata = arguments.flag("include_all_metadata")
    parent, *answers = sandbox.messages.thread(channel.id, ts, metadata=metadata)
    # The parent comes along whatever the bounds.
    every = [parent, *_within(answers, arguments)]
    if cursor := read_cursor(arguments):
        every = [one for one in every if float(one["ts"]) >= float(cursor)]
    return _page(every, arguments, 1000)


def _within(messages: list[Json], arguments: Arguments) -> list[Json]:
    """Between `oldest` and `latest`; the bounds themselves only if `inclusive`."""
    oldest = _moment(arguments, "oldest", 0.0)
    latest = _moment(arguments, "latest", float("inf"))
    inclusive = arguments.flag("inclusive")
    return [
        one
        for one in messages
        if oldest < (ts := float(one["ts"])) < latest or (inclusive and ts in (oldest, latest))
    ]


def _moment(arguments: Arguments, name: str, default: float) -> float:
    try:
        return float(arguments.text(name) or default)
    except ValueError:
        raise SlackError(f"invalid_ts_{name}") from None


def _page(messages: list[Json], arguments: Arguments, default: int) -> Json:
    """The cursor is a moment, so that what is said meanwhile moves nothing from page to page."""
    limit = limit_of(arguments, default)
    page: Json = {"messages": messages[:limit], "has_more": len(messages) > limit}
    if page["has_more"]:
        page["response_metadata"] = {"next_cursor": as_cursor(messages[limit]["ts"])}
    return page
