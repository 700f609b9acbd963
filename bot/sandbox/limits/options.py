"""Limits of what several elements are made of: options, and the question before an act."""

from __future__ import annotations

from typing import Any

from bot.sandbox.limits.problems import Problems
from bot.sandbox.limits.properties import OBJECTS
from bot.sandbox.wire import Json

OPTION_TEXT = 75
OPTION_VALUE = 150
STYLES = ("primary", "danger")


def check_options(problems: Problems, holder: Json, pointer: str, *, most: int) -> None:
    """The options of an element or of a group of them, and the first choice among them."""
    options = problems.items(holder, "options", pointer, most)
    for index, option in enumerate(options):
        place = f"{pointer}/options/{index}"
        problems.only(option, place, OBJECTS["option"])
        problems.text(option, "text", place, OPTION_TEXT)
        problems.length(option.get("value"), f"{place}/value", OPTION_VALUE)
        problems.optional_text(option, "description", place, 75, plain=False)
        problems.optional_address(option, "url", place, 3000)
    chosen = [holder["initial_option"]] if holder.get("initial_option") is not None else []
    if holder.get("initial_options") is not None:
        chosen += problems.items(holder, "initial_options", pointer, most)
    if any(one not in options for one in chosen):
        name = "initial_options" if "initial_options" in holder else "initial_option"
        problems.add(f"{pointer}/{name}", "must exactly match one of the options")


def check_confirm(problems: Problems, confirm: Any, pointer: str) -> None:
    if not isinstance(confirm, dict):
        problems.add(pointer, "must provide an object")
        return
    problems.only(confirm, pointer, OBJECTS["confirm"])
    problems.text(confirm, "title", pointer, 100, plain=True)
    problems.text(confirm, "text", pointer, 300)
    problems.text(confirm, "confirm", pointer, 30, plain=True)
    problems.text(confirm, "deny", pointer, 30, plain=True)
    check_style(problems, confirm, pointer)


def check_style(problems: Problems, holder: Json, pointer: str) -> None:
    if "style" in holder:
        problems.one_of(holder, "style", pointer, STYLES)
