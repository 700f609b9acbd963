"""The payloads of clicks, type-ahead, modals, shortcuts and slash commands."""

from __future__ import annotations

from collections.abc import Sequence

from bot.sandbox.controls import State
from bot.sandbox.wire import Json
from bot.sandbox.workspace import APP, TEAM, TEAM_DOMAIN, VERIFICATION_TOKEN, Channel, User

#: What a person does, in the words of the payload's `type`; those with a trigger id first.
WITH_TRIGGER = ("block_actions", "view_submission", "shortcut", "message_action", "slash_command")
INTERACTIONS = (*WITH_TRIGGER, "view_closed", "block_suggestion")


def in_message(channel: Channel, message: Json) -> Json:
    """Where somebody acts. Of an ephemeral message Slack sends no `message`."""
    is_ephemeral = bool(message.get("is_ephemeral"))
    container: Json = {
        "type": "message",
        "message_ts": message["ts"],
        "channel_id": channel.id,
        "is_ephemeral": is_ephemeral,
    }
    if message.get("thread_ts"):
        container["thread_ts"] = message["thread_ts"]
    where = {"container": container, "channel": _channel(channel)}
    return where if is_ephemeral else where | {"message": message}


def in_view(view: Json) -> Json:
    """A modal or App Home, with what is filled in as its state."""
    return {"container": {"type": "view", "view_id": view["id"]}, "view": view}


def message_click(
    user: User, where: Json, action: Json, *, trigger_id: str, response_url: str, values: State
) -> Json:
    return {
        "type": "block_actions",
        **_from(user),
        **where,
        "trigger_id": trigger_id,
        "state": {"values": values},
        "response_url": response_url,
        "actions": [action],
    }


def view_click(user: User, where: Json, action: Json, *, trigger_id: str) -> Json:
    return {
        "type": "block_actions",
        **_from(user),
        **where,
        "trigger_id": trigger_id,
        "actions": [action],
    }


def suggestion(user: User, where: Json, *, block_id: str, action_id: str, value: str) -> Json:
    """What somebody has typed so far into an external select."""
    return {
        "type": "block_suggestion",
        **_from(user),
        **where,
        "block_id": block_id,
        "action_id": action_id,
        "value": value,
    }


def view_submission(
    user: User, view: Json, *, trigger_id: str, response_urls: Sequence[Json]
) -> Json:
    return {
        "type": "view_submission",
        **_from(user),
        "trigger_id": trigger_id,
        "view": view,
        "response_urls": list(response_urls),
    }


def view_closed(user: User, view: Json, *, is_cleared: bool) -> Json:
    return {"type": "view_closed", **_from(user), "view": view, "is_cleared": is_cleared}


def global_shortcut(user: User, callback_id: str, *, action_ts: str, trigger_id: str) -> Json:
    return {
        "type": "shortcut",
        **_from(user),
        "callback_id": callback_id,
        "action_ts": action_ts,
        "trigger_id": trigger_id,
    }


def message_shortcut(
    user: User,
    channel: Channel,
    message: Json,
    callback_id: str,
    *,
    action_ts: str,
    trigger_id: str,
    response_url: str,
) -> Json:
    return {
        "type": "message_action",
        **_from(user),
        "callback_id": callback_id,
        "action_ts": action_ts,
        "trigger_id": trigger_id,
        "response_url": response_url,
        "channel": _channel(channel),
        "message_ts": message["ts"],
        "message": message,
    }


def slash_command(
    user: User, channel: Channel, command: str, text: str, *, trigger_id: str, response_url: str
) -> Json:
    """That an outsider's `team_id` is their own workspace's is a guess."""
    return {
        "token": VERIFICATION_TOKEN,
        "team_id": user.team_id,
        "team_domain": TEAM_DOMAIN,
        "channel_id": channel.id,
        "channel_name": _name(channel),
        "user_id": user.id,
        "user_name": user.handle,
        "command": command,
        "text": text,
        "api_app_id": APP,
        "is_enterprise_install": "false",
        "response_url": response_url,
        "trigger_id": trigger_id,
    }


def _from(user: User) -> Json:
    """Who did it, in which app and workspace. An outsider keeps their own workspace's id."""
    return {
        "team": {"id": TEAM, "domain": TEAM_DOMAIN},
        "user": {
            "id": user.id,
            "username": user.handle,
            "name": user.handle,
            "team_id": user.team_id,
        },
        "api_app_id": APP,
        "token": VERIFICATION_TOKEN,
        "enterprise": None,
        "is_enterprise_install": False,
    }


def _channel(channel: Channel) -> Json:
    return {"id": channel.id, "name": _name(channel)}


def _name(channel: Channel) -> str:
    return {"im": "directmessage", "private": "privategroup"}.get(channel.kind, channel.name)
