"""Limits of rich text, wherever it stands: a block of its own, a cell, a task's details."""

from __future__ import annotations

from typing import Any

from bot.sandbox.limits.problems import Problems
from bot.sandbox.limits.properties import BLOCKS, RICH_TEXT
from bot.sandbox.wire import Json

PARTS = ("rich_text_section", "rich_text_list", "rich_text_preformatted", "rich_text_quote")
#: Slack names no limit for these; the whole message's holds before.
PARTS_MOST = 1000
ELEMENTS_MOST = 10_000
TEXT_MOST = 40_000


def check_rich_text(problems: Problems, block: Any, pointer: str) -> None:
    if not isinstance(block, dict):
        problems.add(pointer, "must provide an object")
        return
    problems.only(block, pointer, BLOCKS["rich_text"])
    problems.one_of(block, "type", pointer, ("rich_text",))
    for index, part in enumerate(problems.items(block, "elements", pointer, PARTS_MOST, least=0)):
        _check_part(problems, part, f"{pointer}/elements/{index}")


def optional_rich_text(problems: Problems, holder: Json, name: str, pointer: str) -> None:
    if holder.get(name) is not None:
        check_rich_text(problems, holder[name], f"{pointer}/{name}")


def _check_part(problems: Problems, part: Json, pointer: str) -> None:
    if part.get("type") not in PARTS:
        problems.add(f"{pointer}/type", f"unsupported type: {part.get('type')}")
        return
    problems.only(part, pointer, RICH_TEXT[part["type"]])
    for at, element in enumerate(problems.items(part, "elements", pointer, ELEMENTS_MOST, least=0)):
        place, kind = f"{pointer}/elements/{at}", str(element.get("type"))
        if part["type"] == "rich_text_list" and kind == "rich_text_section":
            _check_part(problems, element, place)
        elif kind in RICH_TEXT and kind not in PARTS and part["type"] != "rich_text_list":
            problems.only(element, place, RICH_TEXT[kind])
            if kind == "text":
                problems.length(element.get("text"), f"{place}/text", TEXT_MOST)
            elif kind == "link":
                problems.required_length(element, "url", place, 3000)
        else:
            problems.add(f"{place}/type", f"unsupported type: {kind}")
