"""Limits of modals and App Home."""

from __future__ import annotations

import json
from typing import Any

from bot.sandbox.limits.blocks import IN_A_VIEW, check_blocks
from bot.sandbox.limits.problems import Problems
from bot.sandbox.wire import Json, SlackError

VIEW_BYTES = 250_000


def check_view(view: Any, *, kinds: tuple[str, ...], pointer: str = "/view") -> Json:
    """The view, or `invalid_arguments` with a message and a pointer for each fault."""
    problems = Problems()
    if not isinstance(view, dict):
        raise SlackError("invalid_arguments", [f"[ERROR] missing required field [{pointer}]"])
    if view.get("type") not in kinds:
        problems.add(f"{pointer}/type", f"must be one of {', '.join(kinds)}")
    elif view["type"] == "modal":
        _check_modal(problems, view, pointer)
    problems.optional_length(view, "callback_id", pointer, 255)
    problems.optional_length(view, "external_id", pointer, 255)
    if view.get("private_metadata"):
        problems.optional_length(view, "private_metadata", pointer, 3000)
    check_blocks(problems, view.get("blocks"), f"{pointer}/blocks", IN_A_VIEW)
    if problems.found:
        raise SlackError("invalid_arguments", problems.found)
    if len(json.dumps(view, ensure_ascii=False).encode()) > VIEW_BYTES:
        raise SlackError("view_too_large")
    return view


def _check_modal(problems: Problems, view: Json, pointer: str) -> None:
    problems.text(view, "title", pointer, 24, plain=True)
    problems.optional_text(view, "submit", pointer, 24)
    problems.optional_text(view, "close", pointer, 24)
    blocks = view.get("blocks")
    has_input = isinstance(blocks, list) and any(
        isinstance(block, dict) and block.get("type") == "input" for block in blocks
    )
    if has_input and not view.get("submit"):
        problems.add(pointer, "missing required field: submit")
