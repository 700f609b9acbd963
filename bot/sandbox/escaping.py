"""Text as Slack stores it: three characters as entities, and mentions and links as tokens."""

from __future__ import annotations

import re
from typing import Any

ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
#: What stays as it is in an app's text: entities, and tokens such as `<@U1>`, `<!here>`, `<url|x>`.
_KEPT = re.compile(
    r"&(?:amp|lt|gt);|<(?:[@#!][^<>\s][^<>]*|(?:https?://|mailto:|tel:)[^<>\s][^<>]*)>"
)
#: The end of a sentence, and a bracket around it, belong to no address.
_ADDRESS = re.compile(r"https?://[^\s<>]*[^\s<>.,;:!?)\]}'\"]")


def escape(text: str) -> str:
    return "".join(ENTITIES.get(one, one) for one in text)


def unescape(text: str) -> str:
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def escape_rest(text: str) -> str:
    """An app's text, with entities for what is neither entity nor token already."""
    parts: list[str] = []
    end = 0
    for kept in _KEPT.finditer(text):
        parts += [escape(text[end : kept.start()]), kept.group()]
        end = kept.end()
    return "".join([*parts, escape(text[end:])])


def link_addresses(escaped: str) -> str:
    """Each address outside of tokens becomes `<address>`."""
    parts: list[str] = []
    end = 0
    for kept in _KEPT.finditer(escaped):
        if kept.group().startswith("&"):
            # Within an address it belongs to it: `https://a.example/?b=1&amp;c=2`.
            continue
        parts += [_ADDRESS.sub(r"<\g<0>>", escaped[end : kept.start()]), kept.group()]
        end = kept.end()
    return "".join([*parts, _ADDRESS.sub(r"<\g<0>>", escaped[end:])])


def stored(text: str) -> str:
    """What Slack makes of a text that an app posts, and hands out again."""
    return link_addresses(escape_rest(text))


def as_stored(value: Any) -> Any:
    """A copy of blocks, or of a view, with its text objects as Slack hands them out again."""
    if isinstance(value, list):
        return [as_stored(one) for one in value]
    if not isinstance(value, dict):
        return value
    copied = {name: as_stored(one) for name, one in value.items()}
    words = copied.get("text")
    if isinstance(words, str):
        if copied.get("type") == "plain_text" or copied.get("verbatim"):
            copied["text"] = escape_rest(words)
        elif copied.get("type") == "mrkdwn":
            copied["text"] = stored(words)
    return copied
