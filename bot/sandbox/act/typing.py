"""Typed text: as a person writes it, and as Slack hands it on."""

from __future__ import annotations

import re

from bot.sandbox.escaping import escape, link_addresses, unescape
from bot.sandbox.wire import Json
from bot.sandbox.workspace import Workspace

_TOKEN = re.compile(
    r"<(?:[@#][A-Z0-9]+|!subteam\^[A-Z0-9]+|!here|!channel|!everyone)(?:\|[^<>]*)?>"
)
_EITHER = re.compile(rf"{_TOKEN.pattern}|<https?://[^<>|]+>")


def as_sent(text: str, workspace: Workspace) -> str:
    """Escaped, with `@Name` and `@handle` made mentions, and addresses links.

    A mention that is written as Slack's own token (`<@U0PILOT>`) stays one: a client makes
    such tokens when somebody picks a name from its list.
    """
    parts: list[str] = []
    end = 0
    for token in _TOKEN.finditer(text):
        parts += [_with_mentions(escape(text[end : token.start()]), workspace), token.group()]
        end = token.end()
    parts.append(_with_mentions(escape(text[end:]), workspace))
    return link_addresses("".join(parts))


def as_blocks(sent: str) -> list[Json]:
    """The rich text block that Slack's composer makes of a message."""
    elements: list[Json] = []
    end = 0
    for token in _EITHER.finditer(sent):
        elements += [*_plain(sent[end : token.start()]), _element(token.group())]
        end = token.end()
    elements += _plain(sent[end:])
    section = {"type": "rich_text_section", "elements": elements}
    return [{"type": "rich_text", "elements": [section]}]


def _plain(text: str) -> list[Json]:
    return [{"type": "text", "text": unescape(text)}] if text else []


def _element(token: str) -> Json:
    name = token[1:-1].partition("|")[0]
    if name.startswith("@"):
        return {"type": "user", "user_id": name[1:]}
    if name.startswith("#"):
        return {"type": "channel", "channel_id": name[1:]}
    if name.startswith("!subteam^"):
        return {"type": "usergroup", "usergroup_id": name.removeprefix("!subteam^")}
    if name.startswith("!"):
        return {"type": "broadcast", "range": name[1:]}
    return {"type": "link", "url": unescape(name)}


def _with_mentions(text: str, workspace: Workspace) -> str:
    tokens = {user.handle: f"<@{user.id}>" for user in workspace.users.values()}
    tokens |= {group.handle: f"<!subteam^{group.id}>" for group in workspace.groups.values()}
    names = "|".join(re.escape(name) for name in sorted(tokens, key=len, reverse=True))
    # Not inside an address such as mail@alice.example.
    pattern = re.compile(rf"(?<![\w@])@({names})(?![\w-])", re.IGNORECASE)
    text = pattern.sub(lambda found: tokens[found.group(1).lower()], text)
    return _with_channels(text, workspace)


def _with_channels(text: str, workspace: Workspace) -> str:
    channels = {one.name: one.id for one in workspace.channels.values() if not one.is_direct}
    names = "|".join(re.escape(name) for name in sorted(channels, key=len, reverse=True))
    pattern = re.compile(rf"(?<![\w#&/])#({names})(?![\w-])")
    return pattern.sub(lambda found: f"<#{channels[found.group(1)]}|{found.group(1)}>", text)
