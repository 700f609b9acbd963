"""What a person fills in or picks: taken as Slack's own client takes it, or kept there."""

from __future__ import annotations

from typing import Any

import pytest

from bot.sandbox.act.inputs import as_value
from bot.sandbox.act.picked_values import Lists
from bot.sandbox.act.refused import NotTaken
from bot.sandbox.state import Sandbox

A = {"text": {"type": "plain_text", "text": "A"}, "value": "a"}
B = {"text": {"type": "plain_text", "text": "B"}, "value": "b"}
GROUPS = [{"label": {"type": "plain_text", "text": "G"}, "options": [A]}]
Element = dict[str, Any]
#: The element, what is given, and what Slack would send; None: it isn't taken.
TYPED: list[tuple[Element, Any, Any]] = [
    ({"type": "plain_text_input"}, 90, "90"),
    ({"type": "plain_text_input"}, "x" * 3001, None),
    ({"type": "plain_text_input", "max_length": 2}, "abc", None),
    ({"type": "plain_text_input", "min_length": 4}, "abc", None),
    ({"type": "number_input", "is_decimal_allowed": True}, "90.5", "90.5"),
    ({"type": "number_input", "is_decimal_allowed": False}, "90.5", None),
    ({"type": "number_input", "is_decimal_allowed": True, "max_value": "90"}, "91", None),
    ({"type": "number_input", "is_decimal_allowed": True, "min_value": "90"}, "89", None),
    ({"type": "number_input", "is_decimal_allowed": True}, "many", None),
    ({"type": "number_input", "is_decimal_allowed": True}, "NaN", None),
    ({"type": "datepicker"}, "2026-12-24", "2026-12-24"),
    ({"type": "datepicker"}, "tomorrow", None),
    ({"type": "timepicker"}, "9:30", None),
    ({"type": "timepicker"}, "09:30", "09:30"),
    ({"type": "datetimepicker"}, 1_800_000_000, 1_800_000_000),
    ({"type": "datetimepicker"}, 18, None),
    ({"type": "url_text_input"}, "example", None),
    ({"type": "url_text_input"}, "https://example.com", "https://example.com"),
    ({"type": "email_text_input"}, "a@example.com", "a@example.com"),
    ({"type": "email_text_input"}, "a@b", None),
]
PICKED: list[tuple[Element, Any, Any]] = [
    ({"type": "static_select", "options": [A]}, "a", A),
    ({"type": "static_select", "option_groups": GROUPS}, "a", A),
    ({"type": "radio_buttons", "options": [A]}, "b", None),
    ({"type": "checkboxes", "options": [A, B]}, ["a"], [A]),
    ({"type": "checkboxes", "options": [A, B]}, ["a", "c"], None),
    ({"type": "multi_static_select", "options": [A, B]}, ["b", "a", "b"], [B, A]),
    ({"type": "multi_static_select", "options": [A, B], "max_selected_items": 1}, ["a", "b"], None),
    ({"type": "external_select"}, "s", {"text": A["text"], "value": "s"}),
    ({"type": "external_select"}, "a", None),
    ({"type": "external_select", "initial_option": A}, "a", A),
    ({"type": "multi_external_select", "initial_options": [A]}, ["a"], [A]),
    ({"type": "users_select"}, "U0BOB", "U0BOB"),
    ({"type": "users_select"}, "U0ERIN", None),
    ({"type": "users_select"}, "U0NONE", None),
    ({"type": "multi_users_select"}, ["U0BOB", "U0DAVE"], ["U0BOB", "U0DAVE"]),
    ({"type": "channels_select"}, "C0SUPPORT", "C0SUPPORT"),
    ({"type": "channels_select"}, "C0OPS", None),
    ({"type": "conversations_select"}, "C0OPS", "C0OPS"),
    ({"type": "conversations_select"}, "D0ALICE", None),
    ({"type": "conversations_select", "filter": {"include": ["im"]}}, "D0BOB", "D0BOB"),
    ({"type": "conversations_select", "filter": {"include": ["im"]}}, "C0OPS", None),
    ({"type": "conversations_select", "filter": {"exclude_bot_users": True}}, "D0BOB", None),
    (
        {"type": "conversations_select", "filter": {"exclude_external_shared_channels": True}},
        "C0SHARED",
        None,
    ),
    ({"type": "file_input"}, ["F0NONE"], None),
]


@pytest.mark.parametrize(("element", "given", "expected"), [*TYPED, *PICKED])
def test_values_are_those_that_slacks_client_takes(
    element: Element, given: Any, expected: Any
) -> None:
    sandbox = Sandbox()
    suggested = {"text": A["text"], "value": "s"}
    lists = Lists(sandbox.workspace, "U0BOB", sandbox.files, (suggested,))
    if expected is not None:
        assert as_value(element, given, lists) == expected
        return
    with pytest.raises(NotTaken):
        as_value(element, given, lists)


def test_what_is_emptied_is_empty_in_slacks_way() -> None:
    sandbox = Sandbox()
    lists = Lists(sandbox.workspace, "U0BOB", sandbox.files)
    empties: dict[str, Any] = {"plain_text_input": None, "users_select": None, "checkboxes": []}
    for kind, empty in empties.items():
        assert as_value({"type": kind}, None, lists) == empty


def test_plain_words_make_a_rich_text() -> None:
    sandbox = Sandbox()
    lists = Lists(sandbox.workspace, "U0BOB", sandbox.files)
    block = as_value({"type": "rich_text_input"}, "1 < 2", lists)
    assert block["elements"][0]["elements"] == [{"type": "text", "text": "1 < 2"}]
