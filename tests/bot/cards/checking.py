"""Slack's rules for a message or a view, as strictly as they could be meant."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from slack_sdk.models.blocks import Block

from bot.sandbox.limits.messages import check_message_blocks
from bot.sandbox.limits.views import check_view
from bot.slack.cards.message import Announcement, Message
from tests.slack_types.checking import misfits

_TOKEN = re.compile(r"<([^>]*)>")
_DATE = re.compile(r"!date\^\d+\^[^|]*\|[^<>]*")
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
_LIMITS = {"header": 150, "section": 3000, "button": 75, "context": 3000}


def check_message(message: Message, mentions: Iterable[str] = ()) -> None:
    """Each form of it: within all limits, and no mention but ``mentions``."""
    check_form(Announcement(message.text, message.blocks), mentions)
    check_form(message.first, mentions)
    check_text(message.without_blocks, mentions)


def check_form(form: Announcement, mentions: Iterable[str] = ()) -> None:
    check_text(form.text, mentions)
    blocks = list(form.blocks)
    check_form_limits(blocks)
    check_blocks(blocks)
    assert misfits(blocks, "message") == []
    for kind, text in texts(blocks):
        if kind == "mrkdwn":
            check_mrkdwn(text, mentions)


def check_form_limits(blocks: list[dict[str, Any]]) -> None:
    """How many, how long, after escaping."""
    assert 1 <= len(blocks) <= 50
    check_message_blocks(blocks)
    assert sum(length(text) for _, text in texts(blocks)) <= 10_500


def check_view_limits(view: dict[str, Any]) -> None:
    check_view(view, kinds=("modal",))
    assert len(json.dumps(view)) < 250_000
    assert misfits(view, "modal") == []
    check_blocks(view["blocks"])


def check_home(view: dict[str, Any], mentions: Iterable[str] = ()) -> None:
    """The Home tab: as a modal, and what our own words in it mention."""
    check_view(view, kinds=("home",))
    assert len(json.dumps(view)) < 250_000
    assert misfits(view["blocks"], "message") == []
    check_blocks(view["blocks"])
    for kind, text in texts(view["blocks"]):
        if kind == "mrkdwn":
            check_mrkdwn(text, mentions)


def check_blocks(blocks: list[dict[str, Any]]) -> None:
    json.dumps(blocks, ensure_ascii=False).encode()
    for block in blocks:
        parsed = Block.parse(block)
        assert parsed is not None
        assert parsed.to_dict() == block
        _check_lengths(block)
    named = [block["block_id"] for block in blocks if "block_id" in block]
    assert len(named) == len(set(named))
    actions = [e["action_id"] for b in blocks if b["type"] == "actions" for e in b["elements"]]
    assert len(actions) == len(set(actions))


def check_text(text: str, mentions: Iterable[str] = ()) -> None:
    assert text.strip()
    assert utf16(text) <= 4000
    check_mrkdwn(text, mentions)


def check_mrkdwn(text: str, mentions: Iterable[str]) -> None:
    """No link, no broadcast, no mention that our own code did not write."""
    allowed = set(mentions)
    for token in _TOKEN.findall(text):
        assert _DATE.fullmatch(token) or token in allowed, token
    assert "<" not in _TOKEN.sub("", text)
    assert re.search("&(?!amp;|lt;|gt;)", text) is None


def texts(value: Any) -> Iterator[tuple[str, str]]:
    """Every text in a payload, with what it is."""
    if isinstance(value, dict):
        if isinstance(value.get("text"), str):
            yield value["type"], value["text"]
        for inner in value.values():
            yield from texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from texts(inner)


def shown(blocks: Iterable[dict[str, Any]]) -> str:
    """All that a reader sees, a line a text."""
    return "\n".join(text for block in blocks for _, text in texts(block))


def length(text: str) -> int:
    """After escaping, in UTF-16 units."""
    return utf16("".join(_ENTITIES.get(char, char) for char in text))


def utf16(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


def _check_lengths(block: dict[str, Any]) -> None:
    for kind, text in texts(block):
        assert text, kind
    fields = block.get("fields", ())
    assert len(fields) <= 10
    assert all(length(field["text"]) <= 2000 for field in fields)
    limit = _LIMITS.get(block["type"], 3000)
    assert all(length(text) <= limit for _, text in texts({**block, "fields": ()}))
    for element in block.get("elements", ()):
        if element["type"] == "button":
            assert length(element["text"]["text"]) <= 75
            assert length(element["accessibility_label"]) <= 75
            assert len(element["value"]) <= 2000
