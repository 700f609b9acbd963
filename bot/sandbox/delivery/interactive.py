"""The payloads of clicks, modals and slash commands."""

from __future__ import annotations

from bot.sandbox.wire import Json
from bot.sandbox.workspace import APP, TEAM, Channel, User

DOMAIN = "pilothouse-sandbox"
TOKEN = "sandbox-verification-token"


def _from(user: User) -> Json:
    """Who did it, in which app and workspace. An outsider keeps their own workspace's id."""
    return {
        "team": {"id": TEAM, "domain": DOMAIN},
        "user": {
            "id": user.id,
            "username": user.handle,
            "name": user.handle,
            "team_id": user.team_id,
        },
        "api_app_id": APP,
        "token": TOKEN,
        "enterprise": None,
        "is_enterprise_install": False,
    }


def message_click(
    user: User,
    channel: Channel,
    message: Json,
    action: Json,
    *,
    trigger_id: str,
    response_url: str,
    values: Json,
) -> Json:
    """A `block_actions` from a message. Of an ephemeral one Slack sends no `message`."""
    is_ephemeral = bool(message.get("is_ephemeral"))
    container: Json = {
        "type": "message",
        "message_ts": message["ts"],
        "channel_id": channel.id,
        "is_ephemeral": is_ephemeral,
    }
    if message.get("thread_ts"):
        container["thread_ts"] = message["thread_ts"]
    payload = {
        "type": "block_actions",
        **_from(user),
        "container": container,
        "trigger_id": trigger_id,
        "channel": {"id": channel.id, "name": channel_name(channel)},
        "state": {"values": values},
        "response_url": response_url,
        "actions": [action],
    }
    if not is_ephemeral:
        payload["message"] = message
    return payload


def view_click(user: User, view: Json, action: Json, *, trigger_id: str) -> Json:
    """A `block_actions` from a modal or from App Home."""
    return {
        "type": "block_actions",
        **_from(user),
        "container": {"type": "view", "view_id": view["id"]},
        "trigger_id": trigger_id,
        "view": view,
        "actions": [action],
    }


def view_submission(user: User, view: Json, *, trigger_id: str) -> Json:
    return {
        "type": "view_submission",
        **_from(user),
        "trigger_id": trigger_id,
        "view": view,
        "response_urls": [],
    }


def view_closed(user: User, view: Json, *, is_cleared: bool) -> Json:
    return {"type": "view_closed", **_from(user), "view": view, "is_cleared": is_cleared}


def slash_command(
    user: User, channel: Channel, command: str, text: str, *, trigger_id: str, response_url: str
) -> Json:
    return {
        "token": TOKEN,
        "team_id": user.team_id,
        "team_domain": DOMAIN,
        "channel_id": channel.id,
        "channel_name": channel_name(channel),
        "user_id": user.id,
        "user_name": user.handle,
        "command": command,
        "text": text,
        "api_app_id": APP,
        "is_enterprise_install": "false",
        "response_url": response_url,
        "trigger_id": trigger_id,
    }


def channel_name(channel: Channel) -> str:
    return {"im": "directmessage", "private": "privategroup"}.get(channel.kind, channel.name)
