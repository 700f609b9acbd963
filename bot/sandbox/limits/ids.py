"""The ids within blocks, for whoever looks for one that is there twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from bot.sandbox.record import Record
from bot.sandbox.wire import Json


def block_ids(blocks: list[Any]) -> list[str]:
    """Of blocks and of those within them, where they have one."""
    return [str(block["block_id"]) for block in _every(blocks) if block.get("block_id")]


def elements_of(blocks: list[Any]) -> list[Json]:
    """All elements of all blocks."""
    return [element for block in _every(blocks) for element in _held(block)]


def action_ids(elements: Iterable[Json]) -> list[str]:
    return [str(element["action_id"]) for element in elements if element.get("action_id")]


def repeated(names: list[str]) -> list[str]:
    return sorted(name for name, times in Counter(names).items() if times > 1)


def note_duplicates(record: Record, blocks: list[Any], method: str) -> None:
    """Of what tells the app when it is used, in all of a message or view.

    Slack wants an `action_id` to be unique in its block only: by `block_id` they can be told apart,
    and whoever looks at the `action_id` alone can't. Inputs that wait for the submission often
    share one, which is right.
    """
    telling = [
        element
        for block in _every(blocks)
        if block.get("type") != "input" or block.get("dispatch_action")
        for element in _held(block)
    ]
    found = Counter(action_ids(telling))
    for action_id, times in found.items():
        if times > 1:
            detail = f"{action_id} is there {times} times in one message or view"
            record.violation("duplicate_action_id", detail, method)


def _every(blocks: list[Any]) -> list[Json]:
    """Those within containers and carousels, too."""
    found = []
    for block in blocks:
        if isinstance(block, dict):
            found.append(block)
            inner = block.get("elements" if block.get("type") == "carousel" else "child_blocks")
            found += _every(inner) if isinstance(inner, list) else []
    return found


def _held(block: Json) -> list[Json]:
    several = [block.get(name) for name in ("elements", "actions")]
    many = [one for held in several if isinstance(held, list) for one in held]
    found = [*many, block.get("accessory"), block.get("element")]
    return [one for one in found if isinstance(one, dict)]
