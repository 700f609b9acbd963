"""Limits of what is pressed: buttons of every kind."""

from __future__ import annotations

from bot.sandbox.limits.options import check_style
from bot.sandbox.limits.problems import Problems
from bot.sandbox.limits.properties import OBJECTS
from bot.sandbox.wire import Json

TEXT = 75
VALUE = 2000
URL = 3000
#: Slack's page says so of an `icon_button`. Of a button only the SDK's model does, and no page
#: says that Slack's server takes it there: here it does.
PEOPLE_WHO_SEE_IT = 10


def check_button(problems: Problems, element: Json, pointer: str) -> None:
    problems.text(element, "text", pointer, TEXT, plain=True)
    problems.optional_length(element, "value", pointer, VALUE)
    problems.optional_address(element, "url", pointer, URL)
    problems.optional_length(element, "accessibility_label", pointer, 75)
    problems.optional_length(element, "agent_prompt", pointer, 4000)
    check_style(problems, element, pointer)
    _people(problems, element, pointer)


def check_icon_button(problems: Problems, element: Json, pointer: str) -> None:
    problems.one_of(element, "icon", pointer, ("trash",))
    problems.text(element, "text", pointer, TEXT, plain=True)
    problems.optional_length(element, "value", pointer, VALUE)
    problems.optional_length(element, "accessibility_label", pointer, 75)
    _people(problems, element, pointer)


def _people(problems: Problems, element: Json, pointer: str) -> None:
    place = f"{pointer}/visible_to_user_ids"
    people = element.get("visible_to_user_ids")
    if people is None:
        return
    if not isinstance(people, list) or not all(isinstance(one, str) for one in people):
        problems.add(place, "must be an array of user ids")
    else:
        problems.count(people, place, PEOPLE_WHO_SEE_IT, least=0)


def check_feedback(problems: Problems, element: Json, pointer: str) -> None:
    for name in ("positive_button", "negative_button"):
        button = element.get(name)
        if not isinstance(button, dict):
            problems.missing(pointer, name)
            continue
        place = f"{pointer}/{name}"
        problems.only(button, place, OBJECTS["feedback_button"])
        problems.text(button, "text", place, TEXT, plain=True)
        problems.required_length(button, "value", place, VALUE)
        problems.optional_length(button, "accessibility_label", place, 75)


def check_workflow_button(problems: Problems, element: Json, pointer: str) -> None:
    problems.text(element, "text", pointer, TEXT, plain=True)
    if not isinstance(element.get("workflow"), dict):
        problems.missing(pointer, "workflow")
    check_style(problems, element, pointer)
