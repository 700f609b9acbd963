"""Limits of block elements: buttons, selects, inputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bot.sandbox.limits.problems import Problems
from bot.sandbox.wire import Json

BUTTON_TEXT = 75
BUTTON_VALUE = 2000
IDENTIFIER = 255
INPUT_TEXT = 3000
STYLES = ("primary", "danger")

Check = Callable[[Problems, Json, str], None]


def _button(problems: Problems, element: Json, pointer: str) -> None:
    problems.text(element, "text", pointer, BUTTON_TEXT, plain=True)
    problems.optional_length(element, "value", pointer, BUTTON_VALUE)
    problems.optional_length(element, "url", pointer, 3000)
    problems.optional_length(element, "accessibility_label", pointer, 75)
    _style(problems, element, pointer)


def _overflow(problems: Problems, element: Json, pointer: str) -> None:
    _options(problems, element, pointer, most=5)


def _choice(problems: Problems, element: Json, pointer: str) -> None:
    _options(problems, element, pointer, most=10)


def _select(problems: Problems, element: Json, pointer: str) -> None:
    problems.optional_text(element, "placeholder", pointer, 150)
    if "option_groups" in element:
        for index, group in enumerate(problems.items(element, "option_groups", pointer, 100)):
            place = f"{pointer}/option_groups/{index}"
            problems.text(group, "label", place, BUTTON_TEXT, plain=True)
            _options(problems, group, place, most=100)
    else:
        _options(problems, element, pointer, most=100)


def _prompting(problems: Problems, element: Json, pointer: str) -> None:
    problems.optional_text(element, "placeholder", pointer, 150)


def _plain_text(problems: Problems, element: Json, pointer: str) -> None:
    _prompting(problems, element, pointer)
    initial = element.get("initial_value")
    if initial is not None:
        problems.length(initial, f"{pointer}/initial_value", INPUT_TEXT, least=0)
    for name in ("min_length", "max_length"):
        value = element.get(name)
        if value is not None and not (isinstance(value, int) and 0 <= value <= INPUT_TEXT):
            problems.add(f"{pointer}/{name}", f"must be between 0 and {INPUT_TEXT}")


def _number(problems: Problems, element: Json, pointer: str) -> None:
    _prompting(problems, element, pointer)
    if not isinstance(element.get("is_decimal_allowed"), bool):
        problems.add(pointer, "missing required field: is_decimal_allowed")
    for name in ("initial_value", "min_value", "max_value"):
        if name in element and not isinstance(element[name], str):
            problems.add(f"{pointer}/{name}", "must be a string")


def _image(problems: Problems, element: Json, pointer: str) -> None:
    problems.length(element.get("alt_text"), f"{pointer}/alt_text", 2000)
    if "image_url" not in element and "slack_file" not in element:
        problems.add(pointer, "missing required field: image_url")


def _unchecked(problems: Problems, element: Json, pointer: str) -> None:
    """Known to Slack; its own limits aren't checked here yet."""


#: What may stand in an actions block, a section's accessory or an input block.
INTERACTIVE: dict[str, Check] = {
    "button": _button,
    "overflow": _overflow,
    "checkboxes": _choice,
    "radio_buttons": _choice,
    "static_select": _select,
    "multi_static_select": _select,
    "datepicker": _prompting,
    "timepicker": _prompting,
    "datetimepicker": _unchecked,
    "users_select": _prompting,
    "multi_users_select": _prompting,
    "conversations_select": _prompting,
    "multi_conversations_select": _prompting,
    "channels_select": _prompting,
    "multi_channels_select": _prompting,
    "external_select": _prompting,
    "multi_external_select": _prompting,
    "plain_text_input": _plain_text,
    "number_input": _number,
    "email_text_input": _prompting,
    "url_text_input": _prompting,
    "rich_text_input": _prompting,
    "file_input": _unchecked,
    "feedback_buttons": _unchecked,
    "icon_button": _unchecked,
    "workflow_button": _unchecked,
}
_NOT_IN_INPUT = {"button", "overflow", "feedback_buttons", "icon_button", "workflow_button"}
IN_INPUT = set(INTERACTIVE) - _NOT_IN_INPUT


def check_element(problems: Problems, element: Json, pointer: str) -> None:
    """One interactive element, its action id and its confirmation included."""
    kind = element.get("type")
    check = INTERACTIVE.get(kind) if isinstance(kind, str) else None
    if check is None:
        problems.add(f"{pointer}/type", f"unsupported type: {kind}")
        return
    problems.optional_length(element, "action_id", pointer, IDENTIFIER)
    check(problems, element, pointer)
    if element.get("confirm") is not None:
        _confirm(problems, element["confirm"], f"{pointer}/confirm")


def check_image(problems: Problems, element: Json, pointer: str) -> None:
    _image(problems, element, pointer)


def _confirm(problems: Problems, confirm: Any, pointer: str) -> None:
    if not isinstance(confirm, dict):
        problems.add(pointer, "must provide an object")
        return
    problems.text(confirm, "title", pointer, 100, plain=True)
    problems.text(confirm, "text", pointer, 300)
    problems.text(confirm, "confirm", pointer, 30, plain=True)
    problems.text(confirm, "deny", pointer, 30, plain=True)
    _style(problems, confirm, pointer)


def _style(problems: Problems, holder: Json, pointer: str) -> None:
    if "style" in holder and holder["style"] not in STYLES:
        problems.add(f"{pointer}/style", "must be one of primary, danger")


def _options(problems: Problems, holder: Json, pointer: str, *, most: int) -> None:
    options = problems.items(holder, "options", pointer, most)
    for index, option in enumerate(options):
        place = f"{pointer}/options/{index}"
        problems.text(option, "text", place, 75)
        problems.length(option.get("value"), f"{place}/value", 150)
        problems.optional_text(option, "description", place, 75, plain=False)
    for name in ("initial_option", "initial_options"):
        chosen = holder.get(name)
        if chosen is None:
            continue
        for one in chosen if isinstance(chosen, list) else [chosen]:
            if one not in options:
                problems.add(f"{pointer}/{name}", "must exactly match one of the options")
