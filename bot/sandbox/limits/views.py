"""Limits of modals and App Home."""

from __future__ import annotations

import json
from typing import Any

from bot.sandbox.escaping import as_stored
from bot.sandbox.limits.blocks import check_blocks
from bot.sandbox.limits.problems import Problems
from bot.sandbox.limits.properties import VIEWS
from bot.sandbox.limits.surfaces import Surface
from bot.sandbox.wire import Json, SlackError

#: Slack says 250 KB; that these are thousands, and how it counts, is a guess.
VIEW_BYTES = 250_000


def check_view(view: Any, *, kinds: tuple[str, ...], pointer: str = "/view") -> Json:
    """The view as Slack stores it, or `invalid_arguments` with a message and a pointer for each fault."""
    if not isinstance(view, dict):
        raise SlackError("invalid_arguments", [f"[ERROR] missing required field [{pointer}]"])
    problems = find_problems(view, kinds, pointer)
    if problems.all:
        raise SlackError("invalid_arguments", problems.found)
    if len(json.dumps(view, ensure_ascii=False).encode(errors="replace")) > VIEW_BYTES:
        raise SlackError("view_too_large")
    stored: Json = as_stored(view)
    return stored


def find_problems(view: Json, kinds: tuple[str, ...], pointer: str) -> Problems:
    problems = Problems()
    kind = view.get("type")
    if kind not in kinds:
        problems.add(f"{pointer}/type", f"must be one of {', '.join(kinds)}")
        return problems
    problems.only(view, pointer, VIEWS[kind])
    if kind == "modal":
        _check_modal(problems, view, pointer)
    for name, most in (("callback_id", 255), ("external_id", 255), ("private_metadata", 3000)):
        if view.get(name):
            problems.length(view[name], f"{pointer}/{name}", most)
    surface: Surface = "home" if kind == "home" else "modal"
    check_blocks(problems, view.get("blocks"), f"{pointer}/blocks", surface)
    return problems


def _check_modal(problems: Problems, view: Json, pointer: str) -> None:
    problems.text(view, "title", pointer, 24, plain=True)
    problems.optional_text(view, "submit", pointer, 24)
    problems.optional_text(view, "close", pointer, 24)
    blocks = view.get("blocks")
    has_input = isinstance(blocks, list) and any(
        isinstance(block, dict) and block.get("type") == "input" for block in blocks
    )
    if has_input and not view.get("submit"):
        problems.missing(pointer, "submit")
