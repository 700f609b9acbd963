"""Limits of blocks, for messages and views alike."""

from __future__ import annotations

from typing import Any

from bot.sandbox.limits.cards import (
    check_alert,
    check_card,
    check_carousel,
    check_plan,
    check_task_card,
)
from bot.sandbox.limits.elements import (
    IDENTIFIER,
    IN_ACTIONS,
    IN_CONTEXT_ACTIONS,
    IN_INPUT,
    IN_SECTION,
    Check,
    check_element,
    check_image,
    check_picture,
)
from bot.sandbox.limits.ids import action_ids, block_ids, elements_of, repeated
from bot.sandbox.limits.problems import Problems
from bot.sandbox.limits.properties import BLOCKS
from bot.sandbox.limits.rich_text import check_rich_text, optional_rich_text
from bot.sandbox.limits.surfaces import BLOCKS_AT_MOST, Surface, check_surface
from bot.sandbox.limits.tables import check_data_table, check_table
from bot.sandbox.wire import Json

SECTION_TEXT = 3000
FIELD_TEXT = 2000
#: Of one block, as Slack says; of all in a message, as is long known and not verified here.
MARKDOWN_TEXT = 12_000
IN_A_CONTAINER = 10
WIDTHS = ("narrow", "standard", "wide", "full")


def _section(problems: Problems, block: Json, pointer: str) -> None:
    if block.get("text") is None and not block.get("fields"):
        problems.missing(pointer, "text")
    problems.optional_text(block, "text", pointer, SECTION_TEXT, plain=False)
    if "fields" in block:
        for index, field in enumerate(problems.items(block, "fields", pointer, 10)):
            problems.text({str(index): field}, str(index), f"{pointer}/fields", FIELD_TEXT)
    accessory = block.get("accessory")
    if isinstance(accessory, dict) and accessory.get("type") == "image":
        check_image(problems, accessory, f"{pointer}/accessory")
    elif accessory is not None:
        check_element(problems, accessory, f"{pointer}/accessory", IN_SECTION)


def _header(problems: Problems, block: Json, pointer: str) -> None:
    problems.text(block, "text", pointer, 150, plain=True)


def _context(problems: Problems, block: Json, pointer: str) -> None:
    for index, element in enumerate(problems.items(block, "elements", pointer, 10)):
        place = f"{pointer}/elements/{index}"
        match element.get("type"):
            case "image":
                check_image(problems, element, place)
            case "mrkdwn" | "plain_text":
                problems.text(
                    {str(index): element}, str(index), f"{pointer}/elements", SECTION_TEXT
                )
            case other:
                problems.add(f"{place}/type", f"unsupported type: {other}")


def _actions(problems: Problems, block: Json, pointer: str) -> None:
    elements = problems.items(block, "elements", pointer, 25)
    for index, element in enumerate(elements):
        check_element(problems, element, f"{pointer}/elements/{index}", IN_ACTIONS)
    _check_action_ids(problems, elements, f"{pointer}/elements")


def _context_actions(problems: Problems, block: Json, pointer: str) -> None:
    elements = problems.items(block, "elements", pointer, 5)
    for index, element in enumerate(elements):
        check_element(problems, element, f"{pointer}/elements/{index}", IN_CONTEXT_ACTIONS)
    _check_action_ids(problems, elements, f"{pointer}/elements")


def _input(problems: Problems, block: Json, pointer: str) -> None:
    problems.text(block, "label", pointer, 2000, plain=True)
    problems.optional_text(block, "hint", pointer, 2000)
    if block.get("element") is None:
        problems.missing(pointer, "element")
    else:
        check_element(problems, block["element"], f"{pointer}/element", IN_INPUT)


def _image(problems: Problems, block: Json, pointer: str) -> None:
    check_picture(problems, block, pointer)
    problems.optional_text(block, "title", pointer, 2000)


def _markdown(problems: Problems, block: Json, pointer: str) -> None:
    problems.length(block.get("text"), f"{pointer}/text", MARKDOWN_TEXT)


def _video(problems: Problems, block: Json, pointer: str) -> None:
    problems.text(block, "title", pointer, 199, plain=True)
    problems.optional_length(block, "author_name", pointer, 49)
    problems.optional_text(block, "description", pointer, 199)
    problems.required_length(block, "alt_text", pointer, 3000)
    for name in ("video_url", "thumbnail_url"):
        if block.get(name) is None:
            problems.missing(pointer, name)
        else:
            problems.optional_address(block, name, pointer, 3000)


def _container(problems: Problems, block: Json, pointer: str) -> None:
    if block.get("title") is None and block.get("rich_text_title") is None:
        problems.missing(pointer, "title")
    problems.optional_text(block, "title", pointer, 150)
    optional_rich_text(problems, block, "rich_text_title", pointer)
    problems.optional_text(block, "subtitle", pointer, 150, plain=False)
    problems.optional_one_of(block, "width", pointer, WIDTHS)
    if block.get("default_collapsed") and not block.get("is_collapsible"):
        problems.add(f"{pointer}/default_collapsed", "requires is_collapsible")
    children = problems.items(block, "child_blocks", pointer, IN_A_CONTAINER)
    for index, child in enumerate(children):
        place = f"{pointer}/child_blocks/{index}"
        if child.get("type") == "container":
            problems.add(f"{place}/type", "unsupported type: container")
        else:
            _check_block(problems, child, place)


def _call(problems: Problems, block: Json, pointer: str) -> None:
    problems.required_length(block, "call_id", pointer, IDENTIFIER)


def _auth_provider(problems: Problems, block: Json, pointer: str) -> None:
    problems.required_length(block, "value", pointer, 150)
    problems.text(block, "name", pointer, 75, plain=True)
    if not isinstance(block.get("is_connected"), bool):
        problems.missing(pointer, "is_connected")
    for name in ("icon_url", "auth_url", "disconnect_url"):
        problems.optional_length(block, name, pointer, 3000)


def _divider(problems: Problems, block: Json, pointer: str) -> None:
    """A line has nothing to check."""


KNOWN: dict[str, Check] = {
    "section": _section,
    "header": _header,
    "context": _context,
    "actions": _actions,
    "context_actions": _context_actions,
    "input": _input,
    "image": _image,
    "markdown": _markdown,
    "rich_text": check_rich_text,
    "container": _container,
    "divider": _divider,
    "video": _video,
    "table": check_table,
    "data_table": check_data_table,
    "card": check_card,
    "carousel": check_carousel,
    "plan": check_plan,
    "task_card": check_task_card,
    "alert": check_alert,
    "call": _call,
    "auth_provider": _auth_provider,
}


def check_blocks(problems: Problems, blocks: Any, pointer: str, surface: Surface) -> None:
    """Each block by itself, that it may stand on this surface, and that no id is there twice."""
    if not isinstance(blocks, list):
        problems.add(pointer, "must be an array")
        return
    if len(blocks) > BLOCKS_AT_MOST[surface]:
        problems.count(blocks, pointer, BLOCKS_AT_MOST[surface])
        return
    for index, block in enumerate(blocks):
        _check_block(problems, block, f"{pointer}/{index}")
    for twice in repeated(block_ids(blocks)):
        problems.add(pointer, f"`block_id` already exists: {twice}")
    if sum(element.get("focus_on_load") is True for element in elements_of(blocks)) > 1:
        problems.add(pointer, "only one element can have focus_on_load")
    check_surface(problems, blocks, pointer, surface)


def _check_block(problems: Problems, block: Any, pointer: str) -> None:
    if not isinstance(block, dict):
        problems.add(pointer, "must provide an object")
        return
    if block.get("type") is None:
        problems.missing(pointer, "type")
        return
    check = KNOWN.get(str(block["type"]))
    if check is None:
        problems.add(f"{pointer}/type", f"unsupported type: {block['type']}")
        return
    problems.only(block, pointer, BLOCKS[str(block["type"])])
    problems.optional_length(block, "block_id", pointer, IDENTIFIER)
    check(problems, block, pointer)


def _check_action_ids(problems: Problems, elements: list[Json], pointer: str) -> None:
    for twice in repeated(action_ids(elements)):
        problems.add(pointer, f"`action_id` already exists: {twice}")
