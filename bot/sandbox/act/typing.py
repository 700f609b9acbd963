"""Typed text: as a person writes it, and as Slack hands it on."""

from __future__ import annotations

import re

from bot.sandbox.wire import Json
from bot.sandbox.workspace import Workspace

_TOKEN = re.compile(
    r"<(?:[@#][A-Z0-9]+|!subteam\^[A-Z0-9]+|!here|!channel|!everyone)(?:\|[^<>]*)?>"
)


def escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def as_sent(text: str, workspace: Workspace) -> str:
    """Escaped, with `@Name` and `@handle` made mentions.

    A mention that is written as Slack's own token (`<@U0PILOT>`) stays one: a client makes
    such tokens when somebody picks a name from its list.
    """
    parts: list[str] = []
    end = 0
    for token in _TOKEN.finditer(text):
        parts += [_with_mentions(escape(text[end : token.start()]), workspace), token.group()]
        end = token.end()
    parts.append(_with_mentions(escape(text[end:]), workspace))
    return "".join(parts)


def as_blocks(sent: str) -> list[Json]:
    """The rich text block that Slack's composer makes of a message."""
    elements: list[Json] = []
    end = 0
    for token in _TOKEN.finditer(sent):
        elements += [*_plain(sent[end : token.start()]), _mention(token.group())]
        end = token.end()
    elements += _plain(sent[end:])
    section = {"type": "rich_text_section", "elements": elements}
    return [{"type": "rich_text", "elements": [section]}]


def _plain(text: str) -> list[Json]:
    unescaped = text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
    return [{"type": "text", "text": unescaped}] if text else []


def _mention(token: str) -> Json:
    name = token[1:-1].partition("|")[0]
    if name.startswith("@"):
        return {"type": "user", "user_id": name[1:]}
    if name.startswith("#"):
        return {"type": "channel", "channel_id": name[1:]}
    if name.startswith("!subteam^"):
        return {"type": "usergroup", "usergroup_id": name.removeprefix("!subteam^")}
    return {"type": "broadcast", "range": name[1:]}


def _with_mentions(text: str, workspace: Workspace) -> str:
    tokens = {user.handle: f"<@{user.id}>" for user in workspace.users.values()}
    tokens |= {group.handle: f"<!subteam^{group.id}>" for group in workspace.groups.values()}
    names = "|".join(re.escape(name) for name in sorted(tokens, key=len, reverse=True))
    # Not inside an address such as mail@alice.example.
    pattern = re.compile(rf"(?<![\w@])@({names})(?![\w-])", re.IGNORECASE)
    return pattern.sub(lambda found: tokens[found.group(1).lower()], text)
