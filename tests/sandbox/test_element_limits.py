"""Limits of elements, and of what they are made of: just right, and one too much."""

from __future__ import annotations

import pytest

from bot.sandbox.limits.messages import find_problems
from tests.sandbox.driving import button, plain, text_input
from tests.sandbox.kit import (
    IMAGE,
    Block,
    acting,
    actions,
    confirm,
    context_actions,
    feedback,
    field,
    overflow,
    rich,
    select,
)

OPTION: Block = {"text": plain("x"), "value": "v"}


def number(**values: str) -> Block:
    return field(type="number_input", is_decimal_allowed=True, **values)


def conversations(wanted: object) -> Block:
    return field(type="conversations_select", filter=wanted)


ELEMENTS: list[tuple[list[Block], list[Block], str]] = [
    (
        [{"type": "section", "text": plain("x"), "accessory": IMAGE}],
        [{"type": "section", "text": plain("x"), "accessory": text_input("a")["element"]}],
        "/0/accessory/type",
    ),
    ([select(100)], [select(101)], "/0/elements/0/options"),
    (
        [select(1, initial_option={"text": plain("x"), "value": "0"})],
        [select(1, initial_option={"text": plain("x"), "value": "1"})],
        "/0/elements/0/initial_option",
    ),
    ([feedback()], [feedback(negative_button=None)], "/0/elements/0"),
    (
        [feedback()],
        [feedback(positive_button={"text": plain("x" * 76), "value": "v"})],
        "/0/elements/0/positive_button/text/text",
    ),
    (
        [context_actions(type="icon_button", icon="trash", text=plain("Delete"))],
        [context_actions(type="icon_button", icon="star", text=plain("Like"))],
        "/0/elements/0/icon",
    ),
    (
        [
            context_actions(
                type="icon_button", icon="trash", text=plain("x"), visible_to_user_ids=["U"] * 10
            )
        ],
        [
            context_actions(
                type="icon_button", icon="trash", text=plain("x"), visible_to_user_ids=["U"] * 11
            )
        ],
        "/0/elements/0/visible_to_user_ids",
    ),
    ([feedback()], [context_actions(**button("a"))], "/0/elements/0/type"),
    ([acting(**button("a"))], [acting(type="feedback_buttons")], "/0/elements/0/type"),
    (
        [acting(**button("a", agent_prompt="x" * 4000))],
        [acting(**button("a", agent_prompt="x" * 4001))],
        "/0/elements/0/agent_prompt",
    ),
    (
        [acting(type="datepicker", initial_date="2026-12-24")],
        [acting(type="datepicker", initial_date="24.12.2026")],
        "/0/elements/0/initial_date",
    ),
    (
        [acting(type="timepicker", initial_time="09:30")],
        [acting(type="timepicker", initial_time="9")],
        "/0/elements/0/initial_time",
    ),
    (
        [field(type="plain_text_input", max_length=3000)],
        [field(type="plain_text_input", max_length=3001)],
        "/0/element/max_length",
    ),
    (
        [field(type="number_input", is_decimal_allowed=False)],
        [field(type="number_input")],
        "/0/element",
    ),
    ([field(type="datepicker")], [field(**button("a"))], "/0/element/type"),
    ([field(type="datepicker")], [field(type="file_input")], "/0/element/type"),
    (
        [actions(button("a", text=plain("x" * 75)))],
        [actions(button("a", text=plain("x" * 76)))],
        "/0/elements/0/text/text",
    ),
    ([actions(button("a", "v" * 2000))], [actions(button("a", "v" * 2001))], "/0/elements/0/value"),
    ([actions(button("a" * 255))], [actions(button("a" * 256))], "/0/elements/0/action_id"),
    (
        [actions(button("a", style="primary"))],
        [actions(button("a", style="green"))],
        "/0/elements/0/style",
    ),
    (
        [actions(*(button(f"a{n}") for n in range(25)))],
        [actions(*(button(f"a{n}") for n in range(26)))],
        "/0/elements",
    ),
    (
        [actions(button("a")), actions(button("a"))],
        [actions(button("a"), button("a"))],
        "/0/elements",
    ),
    ([overflow(5, "x" * 75)], [overflow(1, "x" * 76)], "/0/elements/0/options/0/text/text"),
    ([overflow(5)], [overflow(1, value="v" * 151)], "/0/elements/0/options/0/value"),
    (
        [confirm(title=plain("x" * 100))],
        [confirm(title=plain("x" * 101))],
        "/0/elements/0/confirm/title/text",
    ),
    (
        [confirm(text=plain("x" * 300))],
        [confirm(text=plain("x" * 301))],
        "/0/elements/0/confirm/text/text",
    ),
    (
        [confirm(deny=plain("x" * 30))],
        [confirm(deny=plain("x" * 31))],
        "/0/elements/0/confirm/deny/text",
    ),
    ([actions(button("a"))], [actions({"type": "btn"})], "/0/elements/0/type"),
    ([text_input("a")], [actions({"type": "image"})], "/0/elements/0/type"),
    ([number(min_value="-1")], [number(min_value="one")], "/0/element/min_value"),
    ([number(initial_value="1.5")], [number(initial_value="NaN")], "/0/element/initial_value"),
    (
        [number(min_value="1", max_value="1")],
        [number(min_value="2", max_value="1")],
        "/0/element/max_value",
    ),
    (
        [field(type="plain_text_input", min_length=5, max_length=5)],
        [field(type="plain_text_input", min_length=6, max_length=5)],
        "/0/element/min_length",
    ),
    (
        [field(type="datepicker", initial_date="2028-02-29")],
        [field(type="datepicker", initial_date="2026-02-29")],
        "/0/element/initial_date",
    ),
    (
        [field(type="timepicker", initial_time="23:59")],
        [field(type="timepicker", initial_time="24:00")],
        "/0/element/initial_time",
    ),
    (
        [conversations({"include": ["im"], "exclude_bot_users": True})],
        [conversations("im")],
        "/0/element/filter",
    ),
    ([conversations({"include": ["im"]})], [conversations({})], "/0/element/filter"),
    (
        [conversations({"include": ["im"]})],
        [conversations({"include": "im"})],
        "/0/element/filter/include",
    ),
    (
        [conversations({"include": ["mpim"]})],
        [conversations({"include": ["all"]})],
        "/0/element/filter/include",
    ),
    (
        [field(type="multi_static_select", options=[OPTION], max_selected_items=1)],
        [field(type="checkboxes", options=[OPTION], max_selected_items=1)],
        "/0/element",
    ),
    (
        [field(type="static_select", options=[OPTION], initial_option=OPTION)],
        [field(type="static_select", options=[OPTION], initial_option=[OPTION])],
        "/0/element/initial_option",
    ),
    (
        [field(type="multi_users_select", initial_users=["U0BOB"])],
        [field(type="multi_users_select", initial_users="U0BOB")],
        "/0/element/initial_users",
    ),
    (
        [field(type="external_select", min_query_length=2)],
        [field(type="external_select", min_query_length="2")],
        "/0/element/min_query_length",
    ),
    (
        [text_input("a", focus_on_load=True), text_input("b", focus_on_load=False)],
        [text_input("a", focus_on_load=True), text_input("b", focus_on_load=True)],
        "",
    ),
    (
        [field(type="datepicker", focus_on_load=True)],
        [field(type="datepicker", focus_on_load=1)],
        "/0/element/focus_on_load",
    ),
    (
        [text_input("a", dispatch_action_config={"trigger_actions_on": ["on_enter_pressed"]})],
        [text_input("a", dispatch_action_config={"trigger_actions_on": ["on_leave"]})],
        "/0/element/dispatch_action_config/trigger_actions_on",
    ),
    (
        [field(type="rich_text_input", initial_value=rich())],
        [field(type="rich_text_input", initial_value="x")],
        "/0/element/initial_value",
    ),
    (
        [actions(button("a", url="https://a.example"))],
        [actions(button("a", url="a.example"))],
        "/0/elements/0/url",
    ),
    ([actions(button("a"))], [actions(button("a", colour="red"))], "/0/elements/0"),
    (
        [overflow(1)],
        [acting(type="overflow", options=[OPTION | {"hint": "x"}])],
        "/0/elements/0/options/0",
    ),
    ([confirm()], [confirm(cancel=plain("x"))], "/0/elements/0/confirm"),
]


@pytest.mark.parametrize(("right", "wrong", "pointer"), ELEMENTS)
def test_elements(right: list[Block], wrong: list[Block], pointer: str) -> None:
    assert find_problems(right, "").found == []
    assert pointer in [problem.pointer for problem in find_problems(wrong, "").all]
