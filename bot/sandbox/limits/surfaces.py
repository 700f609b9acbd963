"""Which blocks and elements may stand where: in a message, in a modal, on App Home."""

from __future__ import annotations

from typing import Any, Literal

from bot.sandbox.limits.problems import Problems

Surface = Literal["message", "modal", "home"]

BLOCKS_AT_MOST: dict[Surface, int] = {"message": 50, "modal": 100, "home": 100}

_FOR_MESSAGES = {
    "context_actions",
    "data_table",
    "markdown",
    "plan",
    "table",
    "task_card",
}
#: By Slack's own list of blocks, and where that and its server differ by what people report:
#: cards fail in modals, tables on App Home. Plans and task cards outside of streams are listed for
#: messages; nobody is known to have tried. A `file` block comes from Slack, is never sent, and so is
#: not known at all.
_NOT_ON: dict[Surface, set[str]] = {
    "message": {"alert"},
    "modal": {*_FOR_MESSAGES, "card", "carousel", "container"},
    "home": {*_FOR_MESSAGES, "alert"},
}


def check_surface(problems: Problems, blocks: list[Any], pointer: str, surface: Surface) -> None:
    for index, block in enumerate(blocks):
        if not isinstance(block, dict):
            continue
        place = f"{pointer}/{index}"
        if str(block.get("type")) in _NOT_ON[surface]:
            problems.add(f"{place}/type", f"unsupported type: {block['type']} in a {surface}")
        # Slack's pages contradict each other about other inputs in messages; this one is certain.
        element = block.get("element")
        if isinstance(element, dict) and element.get("type") == "file_input" and surface != "modal":
            problems.add(f"{place}/element/type", f"unsupported type: file_input in a {surface}")
        children = block.get("child_blocks")
        if isinstance(children, list):
            check_surface(problems, children, f"{place}/child_blocks", surface)
