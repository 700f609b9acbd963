"""Limits of blocks, for messages and views alike."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bot.sandbox.limits.elements import (
    IDENTIFIER,
    IN_INPUT,
    check_element,
    check_image,
)
from bot.sandbox.limits.problems import Problems
from bot.sandbox.wire import Json, SlackError

IN_A_MESSAGE = 50
IN_A_VIEW = 100
SECTION_TEXT = 3000
FIELD_TEXT = 2000
MARKDOWN_TEXT = 12_000

Check = Callable[[Problems, Json, str], None]


def _section(problems: Problems, block: Json, pointer: str) -> None:
    if block.get("text") is None and not block.get("fields"):
        problems.add(pointer, "missing required field: text")
    problems.optional_text(block, "text", pointer, SECTION_TEXT, plain=False)
    if "fields" in block:
        for index, field in enumerate(problems.items(block, "fields", pointer, 10)):
            problems.text({str(index): field}, str(index), f"{pointer}/fields", FIELD_TEXT)
    accessory = block.get("accessory")
    if isinstance(accessory, dict):
        place = f"{pointer}/accessory"
        image = accessory.get("type") == "image"
        (check_image if image else check_element)(problems, accessory, place)


def _header(problems: Problems, block: Json, pointer: str) -> None:
    problems.text(block, "text", pointer, 150, plain=True)


def _context(problems: Problems, block: Json, pointer: str) -> None:
    for index, element in enumerate(problems.items(block, "elements", pointer, 10)):
        place = f"{pointer}/elements/{index}"
        match element.get("type"):
            case "image":
                check_image(problems, element, place)
            case "mrkdwn" | "plain_text":
                problems.length(element.get("text"), f"{place}/text", SECTION_TEXT)
            case other:
                problems.add(f"{place}/type", f"unsupported type: {other}")


def _actions(problems: Problems, block: Json, pointer: str) -> None:
    elements = problems.items(block, "elements", pointer, 25)
    _check_elements(problems, elements, f"{pointer}/elements")


def _context_actions(problems: Problems, block: Json, pointer: str) -> None:
    elements = problems.items(block, "elements", pointer, 5)
    _check_elements(problems, elements, f"{pointer}/elements")


def _input(problems: Problems, block: Json, pointer: str) -> None:
    problems.text(block, "label", pointer, 2000, plain=True)
    problems.optional_text(block, "hint", pointer, 2000)
    element = block.get("element")
    if not isinstance(element, dict):
        problems.add(pointer, "missing required field: element")
    elif element.get("type") not in IN_INPUT:
        problems.add(f"{pointer}/element/type", f"unsupported type: {element.get('type')}")
    else:
        check_element(problems, element, f"{pointer}/element")


def _image(problems: Problems, block: Json, pointer: str) -> None:
    check_image(problems, block, pointer)
    problems.optional_text(block, "title", pointer, 2000)


def _markdown(problems: Problems, block: Json, pointer: str) -> None:
    problems.length(block.get("text"), f"{pointer}/text", MARKDOWN_TEXT)


def _rich_text(problems: Problems, block: Json, pointer: str) -> None:
    known = ("section", "list", "preformatted", "quote")
    for index, part in enumerate(problems.items(block, "elements", pointer, 1000, least=0)):
        place = f"{pointer}/elements/{index}"
        if str(part.get("type", "")).removeprefix("rich_text_") not in known:
            problems.add(f"{place}/type", f"unsupported type: {part.get('type')}")
        for at, element in enumerate(problems.items(part, "elements", place, 10_000, least=0)):
            if element.get("type") == "text":
                problems.length(element.get("text"), f"{place}/elements/{at}/text", 40_000)


def _container(problems: Problems, block: Json, pointer: str) -> None:
    children = problems.items(block, "child_blocks", pointer, 10)
    problems.optional_text(block, "title", pointer, 150)
    for index, child in enumerate(children):
        _check_block(problems, child, f"{pointer}/child_blocks/{index}")


def _nothing(problems: Problems, block: Json, pointer: str) -> None:
    """Known to Slack; nothing to check, or not checked here yet."""


KNOWN: dict[str, Check] = {
    "section": _section,
    "header": _header,
    "context": _context,
    "actions": _actions,
    "context_actions": _context_actions,
    "input": _input,
    "image": _image,
    "markdown": _markdown,
    "rich_text": _rich_text,
    "container": _container,
    **dict.fromkeys(
        ("divider", "file", "video", "table", "data_table", "card", "carousel", "plan"), _nothing
    ),
    **dict.fromkeys(("task_card", "call", "auth_provider", "alert"), _nothing),
}


def check_blocks(problems: Problems, blocks: Any, pointer: str, most: int) -> None:
    if not isinstance(blocks, list):
        problems.add(pointer, "must be an array")
        return
    if len(blocks) > most:
        problems.add(pointer, f"no more than {most} items allowed")
    for index, block in enumerate(blocks):
        _check_block(problems, block, f"{pointer}/{index}")
    named = [one["block_id"] for one in blocks if isinstance(one, dict) and one.get("block_id")]
    for twice in _repeated(named):
        problems.add(pointer, f"`block_id` already exists: {twice}")


def check_message_blocks(blocks: Any) -> None:
    """Raises `invalid_blocks`, with a message and a pointer for each fault."""
    problems = Problems()
    check_blocks(problems, blocks, "/blocks", IN_A_MESSAGE)
    for index, block in enumerate(blocks if isinstance(blocks, list) else []):
        if isinstance(block, dict) and block.get("type") == "alert":
            problems.add(f"/blocks/{index}/type", "alert is allowed in modals only")
    if problems.found:
        raise SlackError("invalid_blocks", problems.found)


def _check_block(problems: Problems, block: Any, pointer: str) -> None:
    if not isinstance(block, dict):
        problems.add(pointer, "must provide an object")
        return
    check = KNOWN.get(str(block.get("type")))
    if check is None:
        problems.add(f"{pointer}/type", f"unsupported type: {block.get('type')}")
        return
    problems.optional_length(block, "block_id", pointer, IDENTIFIER)
    check(problems, block, pointer)


def _check_elements(problems: Problems, elements: list[Json], pointer: str) -> None:
    for index, element in enumerate(elements):
        check_element(problems, element, f"{pointer}/{index}")
    named = [one["action_id"] for one in elements if one.get("action_id")]
    for twice in _repeated(named):
        problems.add(pointer, f"`action_id` already exists: {twice}")


def _repeated(names: list[Any]) -> list[str]:
    return sorted({str(name) for name in names if names.count(name) > 1})
