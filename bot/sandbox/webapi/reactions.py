"""reactions.*: of the app's."""

from __future__ import annotations

import re

from bot.sandbox.reactions import react, unreact
from bot.sandbox.state import Sandbox
from bot.sandbox.webapi.arguments import Arguments
from bot.sandbox.webapi.places import readable
from bot.sandbox.wire import Json, SlackError
from bot.sandbox.workspace import BOT_USER, Channel


def add(sandbox: Sandbox, arguments: Arguments) -> Json:
    channel, ts, name = _reaction(sandbox, arguments)
    if channel.archived:
        raise SlackError("is_archived")
    message = react(sandbox.messages, channel.id, ts, BOT_USER, name)
    told = sandbox.events.reaction("added", BOT_USER, channel, message, name)
    sandbox.outbox.publish(told)
    return {}


def remove(sandbox: Sandbox, arguments: Arguments) -> Json:
    channel, ts, name = _reaction(sandbox, arguments)
    message = unreact(sandbox.messages, channel.id, ts, BOT_USER, name)
    told = sandbox.events.reaction("removed", BOT_USER, channel, message, name)
    sandbox.outbox.publish(told)
    return {}


def _reaction(sandbox: Sandbox, arguments: Arguments) -> tuple[Channel, str, str]:
    if not arguments.text("channel") or not arguments.text("timestamp"):
        raise SlackError("no_item_specified")
    channel = readable(sandbox, arguments)
    # Which emoji a workspace has is not looked at; names such as `+1` and `wave::skin-tone-2` are.
    name = arguments.text("name").strip(":")
    if not re.fullmatch(r"[a-z0-9_+\-']+(?:::skin-tone-[2-6])?", name):
        raise SlackError("invalid_name")
    ts = arguments.text("timestamp")
    if not re.fullmatch(r"\d+\.\d+", ts):
        raise SlackError("bad_timestamp")
    parent = sandbox.messages.read(channel.id, ts).get("thread_ts", ts)
    if f"{channel.id}/{parent}" in sandbox.policies.locked_threads:
        raise SlackError("thread_locked")
    return channel, ts, name
