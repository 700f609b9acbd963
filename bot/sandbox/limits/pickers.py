"""Limits of what is picked: options, people, channels, days and times."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, time
from typing import Any

from bot.sandbox.limits.options import OPTION_TEXT, check_options
from bot.sandbox.limits.problems import Problems
from bot.sandbox.limits.properties import OBJECTS
from bot.sandbox.limits.typed import PROMPT, QUERY
from bot.sandbox.wire import Json

#: As a `filter` names the kinds of conversations.
KINDS = ("im", "mpim", "private", "public")
CHOSEN_AT_FIRST = 10_000


def check_overflow(problems: Problems, element: Json, pointer: str) -> None:
    check_options(problems, element, pointer, most=5)


def check_choice(problems: Problems, element: Json, pointer: str) -> None:
    check_options(problems, element, pointer, most=10)


def check_static(problems: Problems, element: Json, pointer: str) -> None:
    _prompting(problems, element, pointer)
    if "option_groups" not in element:
        check_options(problems, element, pointer, most=100)
        return
    if "options" in element:
        problems.add(pointer, "options and option_groups can't both be there")
    for index, group in enumerate(problems.items(element, "option_groups", pointer, 100)):
        place = f"{pointer}/option_groups/{index}"
        problems.only(group, place, OBJECTS["option_group"])
        problems.text(group, "label", place, OPTION_TEXT, plain=True)
        check_options(problems, group, place, most=100)


def check_external(problems: Problems, element: Json, pointer: str) -> None:
    _prompting(problems, element, pointer)
    problems.number(element, "min_query_length", pointer, 0, QUERY)
    if not isinstance(element.get("initial_option") or {}, dict):
        problems.add(f"{pointer}/initial_option", "must provide an object")
    if element.get("initial_options") is not None:
        problems.items(element, "initial_options", pointer, 100)


def check_list(problems: Problems, element: Json, pointer: str) -> None:
    """Of people, conversations or channels."""
    _prompting(problems, element, pointer)
    for name in ("initial_user", "initial_conversation", "initial_channel"):
        problems.optional_length(element, name, pointer, 255)
        problems.names(element, f"{name}s", pointer, CHOSEN_AT_FIRST)
    wanted = element.get("filter")
    if isinstance(wanted, dict):
        place = f"{pointer}/filter"
        problems.only(wanted, place, OBJECTS["filter"])
        problems.names(wanted, "include", place, len(KINDS), KINDS)
        problems.count(list(wanted), place, len(OBJECTS["filter"]))
    elif wanted is not None:
        problems.add(f"{pointer}/filter", "must provide an object")


def check_day(problems: Problems, element: Json, pointer: str) -> None:
    _prompting(problems, element, pointer)
    _shaped(problems, element, "initial_date", pointer, date.fromisoformat, "YYYY-MM-DD")


def check_time(problems: Problems, element: Json, pointer: str) -> None:
    _prompting(problems, element, pointer)
    _shaped(problems, element, "initial_time", pointer, time.fromisoformat, "HH:mm")


def check_moment(problems: Problems, element: Json, pointer: str) -> None:
    problems.number(element, "initial_date_time", pointer, 10**9, 10**10 - 1)


def _prompting(problems: Problems, element: Json, pointer: str) -> None:
    problems.optional_text(element, "placeholder", pointer, PROMPT)
    problems.number(element, "max_selected_items", pointer, 1, 10_000)


def _shaped(
    problems: Problems,
    element: Json,
    name: str,
    pointer: str,
    read: Callable[[str], Any],
    shape: str,
) -> None:
    value = element.get(name)
    if value is None:
        return
    try:
        # Python reads other forms of ISO 8601, too, that Slack doesn't.
        is_right = re.fullmatch(re.sub(r"\w", r"\\d", shape), str(value)) and read(str(value))
    except ValueError:
        is_right = None
    if is_right is None:
        problems.add(f"{pointer}/{name}", f"must have the format {shape}")
