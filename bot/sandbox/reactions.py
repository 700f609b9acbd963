"""Reactions to messages, by the app and by people."""

from __future__ import annotations

from bot.sandbox.messages import Messages
from bot.sandbox.wire import Json, SlackError


def react(messages: Messages, channel: str, ts: str, user: str, name: str) -> Json:
    """The message then. Raises `message_not_found`, `already_reacted`."""
    message = messages.read(channel, ts)
    found: list[Json] = message.get("reactions", [])
    reaction = _named(found, name)
    if reaction is None:
        reaction = {"name": name, "users": [], "count": 0}
        found.append(reaction)
    if user in reaction["users"]:
        raise SlackError("already_reacted")
    _set_users(reaction, [*reaction["users"], user])
    return messages.change(channel, ts, reactions=found)


def unreact(messages: Messages, channel: str, ts: str, user: str, name: str) -> Json:
    """The message then. Raises `message_not_found`, `no_reaction`."""
    message = messages.read(channel, ts)
    found: list[Json] = message.get("reactions", [])
    reaction = _named(found, name)
    if reaction is None or user not in reaction["users"]:
        raise SlackError("no_reaction")
    _set_users(reaction, [one for one in reaction["users"] if one != user])
    left = [one for one in found if one["users"]]
    return messages.change(channel, ts, reactions=left or None)


def _named(reactions: list[Json], name: str) -> Json | None:
    return next((one for one in reactions if one["name"] == name), None)


def _set_users(reaction: Json, users: list[str]) -> None:
    reaction["users"], reaction["count"] = users, len(users)
