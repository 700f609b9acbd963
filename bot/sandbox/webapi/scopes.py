"""Scopes that depend on what kind of channel a call is about."""

from __future__ import annotations

from typing import TypeAlias

from bot.sandbox.state import Sandbox
from bot.sandbox.webapi.arguments import Arguments
from bot.sandbox.wire import SlackError
from bot.sandbox.workspace import LISTED_TYPES, ChannelKind

#: Any one of them suffices.
Scopes: TypeAlias = str | tuple[str, ...]

FAMILIES: dict[ChannelKind, str] = {
    "public": "channels",
    "private": "groups",
    "im": "im",
    "mpim": "mpim",
}


def reading(sandbox: Sandbox, arguments: Arguments) -> Scopes:
    return _of_channel(sandbox, arguments, "read")


def history(sandbox: Sandbox, arguments: Arguments) -> Scopes:
    return _of_channel(sandbox, arguments, "history")


def managing(sandbox: Sandbox, arguments: Arguments) -> Scopes:
    scopes = _of_channel(sandbox, arguments, "write")
    return "channels:manage" if scopes == "channels:write" else scopes


def opening(sandbox: Sandbox, arguments: Arguments) -> Scopes:
    """With one person, or with several."""
    return "mpim:write" if len(arguments.listed("users")) > 1 else "im:write"


def for_types(sandbox: Sandbox, arguments: Arguments) -> Scopes:
    """One for each kind that is listed: the first that the token hasn't got."""
    listed = arguments.listed("types") or [LISTED_TYPES["public"]]
    needed = [f"{FAMILIES[kind]}:read" for kind, name in LISTED_TYPES.items() if name in listed]
    return next((scope for scope in needed if scope not in arguments.scopes), ())


def _of_channel(sandbox: Sandbox, arguments: Arguments, what: str) -> Scopes:
    """Of a channel that isn't there any will do: the answer is an error anyhow."""
    try:
        family = FAMILIES[sandbox.workspace.channel(arguments.text("channel")).kind]
    except SlackError:
        return tuple(f"{family}:{what}" for family in FAMILIES.values())
    return f"{family}:{what}"
