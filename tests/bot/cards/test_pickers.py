"""Inputs of the Steer modal in which a value is picked: what stands in them, and what is read from them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import JsonValue

from agent.rules.calls import Call
from agent.rules.state import Approval, RunState
from bot.slack.cards.modals import read_steer, steer_modal
from tests.agent.rules.histories import asked, begun, judged, replied
from tests.bot.cards.checking import check_view_limits

DAY: dict[str, Any] = {"type": "string", "format": "date"}
MOMENT: dict[str, Any] = {"type": "string", "format": "date-time"}
TAGS: dict[str, Any] = {"type": "array", "items": {"enum": ["a", "b", 3]}}
SPEED: dict[str, Any] = {"enum": ["slow", "fast"]}
NEVER: dict[str, Any] = {"anyOf": [DAY, {"type": "null"}]}


def question(declared: dict[str, Any], value: JsonValue) -> tuple[Approval, Call, RunState]:
    parameters = {"type": "object", "properties": {"it": declared}, "required": ["it"]}
    args = {"it": value}
    call = judged(1, "ask", args=args).model_copy(update={"parameters": parameters})
    state = begun().then(replied(1)).then(call).then(asked(1, args=args)).state
    return next(iter(state.approvals.values())), next(iter(state.calls.values())), state


def element(declared: dict[str, Any], value: JsonValue) -> dict[str, Any]:
    view = steer_modal(*question(declared, value))
    check_view_limits(view)
    (found,) = [one["element"] for one in view["blocks"] if one.get("block_id") == "arg.it"]
    return dict(found)


def read(declared: dict[str, Any], value: JsonValue, sent: dict[str, Any]) -> object:
    """The new value alone in a list, none of it, or the message at the input."""
    approval, call, _ = question(declared, value)
    changed, _, errors = read_steer({"arg.it": {"value": sent}}, call, approval)
    return errors.get("arg.it") or ([changed["it"]] if changed else [])


@pytest.mark.parametrize(
    ("declared", "value", "kind", "initial"),
    [
        (DAY, "2026-11-30", "datepicker", {"initial_date": "2026-11-30"}),
        (NEVER, None, "datepicker", {}),
        (MOMENT, "2026-11-30T12:00:00Z", "datetimepicker", {"initial_date_time": 1796040000}),
        (MOMENT, "2026-11-30T13:00:00+01:00", "datetimepicker", {"initial_date_time": 1796040000}),
        (TAGS, ["a", 3], "multi_static_select", {"initial_options": ["a", "3"]}),
        (TAGS, [], "multi_static_select", {}),
        (SPEED, "fast", "static_select", {"initial_option": "fast"}),
        ({"type": "boolean"}, True, "static_select", {"initial_option": "true"}),
        # What a picker could not show as it is is typed.
        (DAY, "soon", "plain_text_input", {"initial_value": "soon"}),
        (DAY, "2026-02-30", "plain_text_input", {"initial_value": "2026-02-30"}),
        (
            MOMENT,
            "2026-11-30T12:00:00",
            "plain_text_input",
            {"initial_value": "2026-11-30T12:00:00"},
        ),
        (
            MOMENT,
            "1970-01-01T00:00:00Z",
            "plain_text_input",
            {"initial_value": "1970-01-01T00:00:00Z"},
        ),
        (TAGS, ["a", "z"], "plain_text_input", {"initial_value": '["a","z"]'}),
        (TAGS, ["a", "a"], "plain_text_input", {"initial_value": '["a","a"]'}),
        (TAGS, "a", "plain_text_input", {"initial_value": '"a"'}),
        (
            {"type": "array", "items": {"type": "object"}},
            [{}],
            "plain_text_input",
            {"initial_value": "[{}]"},
        ),
    ],
)
def test_a_value_is_picked_in_the_way_of_its_kind_and_stands_there_as_it_is(
    declared: dict[str, Any], value: JsonValue, kind: str, initial: dict[str, Any]
) -> None:
    made = element(declared, value)
    assert made["type"] == kind
    for name, options in (("initial_option", False), ("initial_options", True)):
        if name in made:
            made[name] = [one["value"] for one in made[name]] if options else made[name]["value"]
    assert {name: one for name, one in made.items() if name.startswith("initial")} == initial
    # And what nobody touched is no change.
    if kind == "datepicker":
        assert read(declared, value, {"selected_date": made.get("initial_date")}) == []
    if kind == "datetimepicker":
        assert read(declared, value, {"selected_date_time": made["initial_date_time"]}) == []
    if kind == "multi_static_select":
        chosen = [{"value": one} for one in reversed(made.get("initial_options", []))]
        assert read(declared, value, {"selected_options": chosen}) == []


@pytest.mark.parametrize(
    ("declared", "value", "sent", "new"),
    [
        (DAY, "2026-11-30", {"selected_date": "2026-12-01"}, ["2026-12-01"]),
        (DAY, "soon", {"value": "2026-12-01"}, ["2026-12-01"]),
        (NEVER, "2026-11-30", {"selected_date": None}, [None]),
        (
            MOMENT,
            "2026-11-30T12:00:00Z",
            {"selected_date_time": 1796040060},
            ["2026-11-30T12:01:00Z"],
        ),
        (TAGS, ["a"], {"selected_options": [{"value": "3"}, {"value": "b"}]}, [["b", 3]]),
        (TAGS, ["a"], {"selected_options": []}, [[]]),
        (TAGS, ["a", "z"], {"value": '["b"]'}, [["b"]]),
        (SPEED, "slow", {"selected_option": {"value": "fast"}}, ["fast"]),
    ],
)
def test_another_value_is_read_as_what_it_means(
    declared: dict[str, Any], value: JsonValue, sent: dict[str, Any], new: list[JsonValue]
) -> None:
    found = read(declared, value, sent)
    assert json.dumps(found) == json.dumps(new)


@pytest.mark.parametrize(
    ("declared", "value", "sent", "message"),
    [
        (DAY, "2026-11-30", {"selected_date": "2026-02-30"}, "This is no day."),
        (DAY, "2026-11-30", {"selected_date": 7}, "This is no day."),
        (DAY, "2026-11-30", {"selected_date": None}, "Give a value."),
        (MOMENT, "2026-11-30T12:00:00Z", {"selected_date_time": "1"}, "This is no time."),
        (MOMENT, "2026-11-30T12:00:00Z", {"selected_date_time": 10**18}, "This is no time."),
        (MOMENT, "2026-11-30T12:00:00Z", {"selected_date_time": True}, "This is no time."),
        (TAGS, ["a"], {"selected_options": [{"value": "z"}]}, "This is not one of the choices."),
        (TAGS, ["a"], {"selected_options": "a"}, "This is not one of the choices."),
        (TAGS, ["a"], {"selected_options": [{"value": []}]}, "This is not one of the choices."),
        (
            SPEED,
            "slow",
            {"selected_option": {"value": ["fast"]}},
            "This is not one of the choices.",
        ),
        (SPEED, "slow", {"selected_option": "fast"}, "This is not one of the choices."),
    ],
)
def test_what_no_picker_sends_is_an_error_at_its_field(
    declared: dict[str, Any], value: JsonValue, sent: dict[str, Any], message: str
) -> None:
    assert read(declared, value, sent) == message


@pytest.mark.parametrize(
    "choices",
    [
        ["x" * 200 + "1", "x" * 200 + "2", "y"],
        [1, "1", True, "true", "yes"],
        ["token=abcdef", "token=uvwxyz"],
        ["#1", "x" * 200],
    ],
)
def test_no_two_choices_look_alike_and_each_is_read_as_itself(choices: list[JsonValue]) -> None:
    declared: dict[str, Any] = {"enum": choices}
    options = element(declared, choices[0])["options"]
    assert len({one["text"]["text"] for one in options}) == len(choices)
    found = [read(declared, None, {"selected_option": one}) for one in options]
    assert json.dumps(found) == json.dumps([[one] for one in choices])


@pytest.mark.parametrize("value", ["k1-s3cr3t", None])
def test_secrets_are_not_put_up_to_be_picked(value: JsonValue) -> None:
    for declared in (
        {"enum": ["k1-s3cr3t", "k2-s3cr3t"], "format": "password"},
        {"enum": ["k1-s3cr3t", "k2-s3cr3t"], "writeOnly": True},
    ):
        made = element(declared, value)
        assert made["type"] == "plain_text_input"
        assert "s3cr3t" not in json.dumps(made)
        assert read(declared, value, {"value": "k2-s3cr3t"}) == ["k2-s3cr3t"]
