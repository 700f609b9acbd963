"""Limits of block elements: which there are, where each may stand, what all have in common."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from bot.sandbox.limits.buttons import (
    URL,
    check_button,
    check_feedback,
    check_icon_button,
    check_workflow_button,
)
from bot.sandbox.limits.options import check_confirm
from bot.sandbox.limits.pickers import (
    check_choice,
    check_day,
    check_external,
    check_list,
    check_moment,
    check_overflow,
    check_static,
    check_time,
)
from bot.sandbox.limits.problems import Problems
from bot.sandbox.limits.properties import ELEMENTS, OBJECTS
from bot.sandbox.limits.typed import (
    check_file,
    check_number,
    check_plain_text,
    check_rich_text_input,
    check_words,
)
from bot.sandbox.wire import Json

IDENTIFIER = 255

Check = Callable[[Problems, Json, str], None]

_IN_CONTEXT_ACTIONS: dict[str, Check] = {
    "feedback_buttons": check_feedback,
    "icon_button": check_icon_button,
}
_BUTTONS: dict[str, Check] = {
    "button": check_button,
    "overflow": check_overflow,
    "workflow_button": check_workflow_button,
}
_CHOICES: dict[str, Check] = {
    "checkboxes": check_choice,
    "radio_buttons": check_choice,
    "static_select": check_static,
    "multi_static_select": check_static,
    "datepicker": check_day,
    "timepicker": check_time,
    "datetimepicker": check_moment,
    **{
        f"{several}{what}_select": check_list
        for several in ("", "multi_")
        for what in ("users", "conversations", "channels")
    },
    "external_select": check_external,
    "multi_external_select": check_external,
}
_TYPED: dict[str, Check] = {
    "plain_text_input": check_plain_text,
    "number_input": check_number,
    "email_text_input": check_words,
    "url_text_input": check_words,
    "rich_text_input": check_rich_text_input,
    "file_input": check_file,
}
_CHECKS = _IN_CONTEXT_ACTIONS | _BUTTONS | _CHOICES | _TYPED

IN_CONTEXT_ACTIONS = frozenset(_IN_CONTEXT_ACTIONS)
IN_ACTIONS = frozenset(_BUTTONS | _CHOICES)
#: A section's accessory can be an image too.
IN_SECTION = IN_ACTIONS
IN_INPUT = frozenset(_CHOICES | _TYPED)


def check_element(problems: Problems, element: Any, pointer: str, allowed: Collection[str]) -> None:
    """One interactive element, its action id and its confirmation included."""
    if not isinstance(element, dict):
        problems.add(pointer, "must provide an object")
        return
    kind = str(element.get("type"))
    if kind not in allowed:
        problems.add(f"{pointer}/type", f"unsupported type: {kind}")
        return
    problems.only(element, pointer, ELEMENTS[kind])
    problems.optional_length(element, "action_id", pointer, IDENTIFIER)
    _CHECKS[kind](problems, element, pointer)
    if element.get("confirm") is not None:
        check_confirm(problems, element["confirm"], f"{pointer}/confirm")


def check_image(problems: Problems, element: Json, pointer: str) -> None:
    """An image among other elements."""
    problems.only(element, pointer, OBJECTS["image"])
    check_picture(problems, element, pointer)


def check_picture(problems: Problems, holder: Json, pointer: str) -> None:
    """What an image has, also where it is a block of its own."""
    problems.length(holder.get("alt_text"), f"{pointer}/alt_text", 2000)
    problems.optional_address(holder, "image_url", pointer, URL)
    if "image_url" not in holder and "slack_file" not in holder:
        problems.missing(pointer, "image_url")
