"""What other apps say: who they are, and all the text that their message shows. Pure.

An alert's words may stand in its text, in its blocks or in attachments; people see all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from agent.rules.ids import Principal
from bot.slack import fields
from bot.slack.people import Home

_NAME_LIMIT: Final = 80
#: So deep do blocks and attachments hold text.
_DEEPEST: Final = 12
#: What is text to whoever looks at it, in the order in which it is shown.
_WORDS: Final = ("pretext", "title", "text", "value")
_WITHIN: Final = ("fields", "blocks", "elements", "attachments")


def app_of(shown: Mapping[str, Any]) -> Principal | None:
    """The app that wrote it, by the name that it has in Slack; None for what a person or Slack itself wrote."""
    if not any(shown.get(name) for name in ("bot_id", "bot_profile")):
        return None
    profile = shown.get("bot_profile")
    names = (fields.value(profile, "name"), shown.get("username"), shown.get("bot_id"))
    name = next((one for one in names if isinstance(one, str) and one.strip()), "?")
    return Principal(f"app:{' '.join(name.split())[:_NAME_LIMIT]}")


def is_of_another_app(shown: Mapping[str, Any], home: Home) -> bool:
    """And not of ours, nor for one person's eyes."""
    if app_of(shown) is None or shown.get("hidden") or shown.get("subtype") not in _SAID_BY_APPS:
        return False
    ours = {home.bot_id, home.bot_user} - {None}
    return not ours & {
        shown.get("bot_id"),
        fields.value(shown, "bot_profile", "id"),
        shown.get("user"),
    }


_SAID_BY_APPS: Final = (None, "bot_message", "thread_broadcast", "file_share")


def text_of_app(shown: Mapping[str, Any]) -> str:
    """Once, whatever says it again."""
    said = list[str]()
    for text in _texts(shown, _DEEPEST):
        if not any(text in other for other in said):
            said.append(text)
    return "\n".join(said)


def _texts(within: object, depth: int) -> Iterator[str]:
    if isinstance(within, list) and depth:
        for one in within:
            yield from _texts(one, depth - 1)
    if not isinstance(within, Mapping) or not depth:
        return
    if within.get("type") in _LINES:
        yield from filter(None, [_line(within)])
        return
    words = [within.get(name) for name in _WORDS]
    for found in words:
        if isinstance(found, str) and found.strip():
            yield found.strip()
        yield from _texts(found, depth - 1)
    for name in _WITHIN:
        yield from _texts(within.get(name), depth - 1)
    if not any(map(bool, (*words, within.get("blocks")))) and isinstance(
        within.get("fallback"), str
    ):
        yield str(within["fallback"]).strip()


#: What is one line, in pieces.
_LINES: Final = ("rich_text_section", "rich_text_preformatted", "rich_text_quote")


def _line(section: Mapping[str, Any]) -> str:
    elements = section.get("elements")
    pieces = elements if isinstance(elements, list) else []
    return "".join(map(_piece, pieces)).strip()


def _piece(piece: object) -> str:
    if fields.value(piece, "type") == "user":
        return f"<@{fields.value(piece, 'user_id')}>"
    found = fields.value(piece, "text") or fields.value(piece, "url")
    return found if isinstance(found, str) else ""
