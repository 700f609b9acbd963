"""Limits of what is typed or uploaded."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation

from bot.sandbox.limits.problems import Problems
from bot.sandbox.limits.properties import OBJECTS
from bot.sandbox.limits.rich_text import optional_rich_text
from bot.sandbox.wire import Json

TEXT = 3000
PROMPT = 150
QUERY = 3000
TRIGGERS = ("on_enter_pressed", "on_character_entered")
_NUMBERS = ("min_value", "initial_value", "max_value")


def check_plain_text(problems: Problems, element: Json, pointer: str) -> None:
    check_words(problems, element, pointer)
    problems.number(element, "min_length", pointer, 0, TEXT)
    problems.number(element, "max_length", pointer, 1, TEXT)
    least, most = element.get("min_length"), element.get("max_length")
    if isinstance(least, int) and isinstance(most, int) and least > most:
        problems.add(f"{pointer}/min_length", "must not be greater than max_length")


def check_words(problems: Problems, element: Json, pointer: str) -> None:
    """An address, or any text."""
    _prompting(problems, element, pointer)
    initial = element.get("initial_value")
    if initial is not None:
        problems.length(initial, f"{pointer}/initial_value", TEXT, least=0)


def check_rich_text_input(problems: Problems, element: Json, pointer: str) -> None:
    _prompting(problems, element, pointer)
    optional_rich_text(problems, element, "initial_value", pointer)


def check_number(problems: Problems, element: Json, pointer: str) -> None:
    """`min_value`, `initial_value` and `max_value` are numbers, in this order."""
    _prompting(problems, element, pointer)
    if not isinstance(element.get("is_decimal_allowed"), bool):
        problems.missing(pointer, "is_decimal_allowed")
    below: Decimal | None = None
    for name in _NUMBERS:
        if element.get(name) is None:
            continue
        value = _number(element[name])
        if value is None:
            problems.add(f"{pointer}/{name}", "must be a string that is a number")
        elif below is not None and value < below:
            problems.add(f"{pointer}/{name}", "must not be less than what comes before it")
        below = value if value is not None else below


def _number(given: object) -> Decimal | None:
    if not isinstance(given, str):
        return None
    try:
        value = Decimal(given)
    except InvalidOperation:
        return None
    return value if value.is_finite() else None


def check_file(problems: Problems, element: Json, pointer: str) -> None:
    problems.number(element, "max_files", pointer, 1, 10)
    problems.names(element, "filetypes", pointer, 100)


def _prompting(problems: Problems, element: Json, pointer: str) -> None:
    problems.optional_text(element, "placeholder", pointer, PROMPT)
    config = element.get("dispatch_action_config")
    place = f"{pointer}/dispatch_action_config"
    if isinstance(config, dict):
        problems.only(config, place, OBJECTS["dispatch_action_config"])
        problems.names(config, "trigger_actions_on", place, len(TRIGGERS), TRIGGERS)
    elif config is not None:
        problems.add(place, "must provide an object")
