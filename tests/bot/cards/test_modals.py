"""The Steer modal: what stands in it, and what is read from it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from pydantic import JsonValue

from agent.rules.calls import Call
from agent.rules.secret_texts import MASK, mask_of
from agent.rules.state import Approval, RunState
from bot.cli.asking import how_to_decide
from bot.slack.cards.modals import (
    approval_of,
    notice_modal,
    read_steer,
    steer_errors,
    steer_modal,
)
from bot.slack.ids import STEER_MODAL
from tests.agent.rules.histories import asked, begun, judged, replied, started, waiting
from tests.bot.cards.checking import texts

PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "order": {"type": "string", "title": "Order", "maxLength": 40},
        "note": {"anyOf": [{"type": "string"}, {"type": "null"}], "title": "Note"},
        "amount": {"type": "number", "format": "money", "x-currency": "USD", "description": "USD"},
        "times": {"type": "integer"},
        "urgent": {"type": "boolean"},
        "speed": {"enum": ["slow", "fast", 3]},
        "lines": {"type": "array"},
        "api_key": {"type": "string"},
        "login": {"type": "object", "properties": {"key": {"type": "string", "writeOnly": True}}},
        "script": {"type": "string"},
    },
    "required": ["order", "amount"],
}
ARGS: dict[str, JsonValue] = {
    "order": "ORD-3300",
    "note": "gently",
    "amount": 180.5,
    "times": 2,
    "urgent": False,
    "speed": "slow",
    "lines": [1, "a"],
    "api_key": "k3yk3yk3y",
    "login": {"user": "bob", "key": "k3yk3yk3y"},
    "script": "x" * 5000,
}


def question(args: Mapping[str, JsonValue] = ARGS) -> tuple[Approval, Call, RunState]:
    call = judged(1, "ask", args=args).model_copy(update={"parameters": PARAMETERS})
    state = begun().then(replied(1)).then(call).then(asked(1, args=args)).state
    return next(iter(state.approvals.values())), next(iter(state.calls.values())), state


def element(name: str) -> dict[str, Any]:
    view = steer_modal(*question())
    found: dict[str, Any] = {b.get("block_id"): b for b in view["blocks"]}[f"arg.{name}"]
    return found


def shown_above(name: str) -> list[str]:
    """What is to be read only, above the input of this argument."""
    blocks = steer_modal(*question())["blocks"]
    (index,) = [i for i, one in enumerate(blocks) if one.get("block_id") == f"arg.{name}"]
    assert blocks[index - 1]["type"] == "rich_text"
    return [text for _, text in texts(blocks[index - 1])]


def hint(args: Mapping[str, JsonValue], name: str) -> str:
    """What stands below the input of this argument."""
    blocks = steer_modal(*question({**ARGS, **args}))["blocks"]
    (found,) = [one for one in blocks if one.get("block_id") == f"arg.{name}"]
    return found["hint"]["text"] if "hint" in found else ""


def sent(**values: Any) -> dict[str, dict[str, dict[str, Any]]]:
    """What Slack sends of an input: typed text, or a choice."""
    return {
        name if name == "guidance" else f"arg.{name}": {"value": value}
        for name, value in values.items()
    }


def typed(text: str | None) -> dict[str, Any]:
    return {"type": "plain_text_input", "value": text}


def chosen(value: str | None) -> dict[str, Any]:
    option = None if value is None else {"value": value, "text": {}}
    return {"type": "static_select", "selected_option": option}


def test_it_has_an_input_an_argument_of_its_own_kind() -> None:
    view = steer_modal(*question())
    assert view["callback_id"] == STEER_MODAL
    assert approval_of(view["private_metadata"]) == "apr_1"
    assert [view[part]["text"] for part in ("title", "submit", "close")] == [
        "Steer",
        "Send",
        "Cancel",
    ]
    inputs = {b["block_id"]: b["element"] for b in view["blocks"] if b["type"] == "input"}
    assert list(inputs) == [*(f"arg.{name}" for name in PARAMETERS["properties"]), "guidance"]
    assert {one["action_id"] for one in inputs.values()} == {"value"}
    assert [one["type"] == "static_select" for one in inputs.values()] == [
        name in ("arg.urgent", "arg.speed") for name in inputs
    ]


def test_values_stand_there_as_a_person_edits_them() -> None:
    assert element("amount")["element"]["initial_value"] == "180.50"
    assert element("times")["element"]["initial_value"] == "2"
    assert element("lines")["element"]["initial_value"] == '[1,"a"]'
    assert element("urgent")["element"]["initial_option"]["value"] == "false"
    assert element("speed")["element"]["initial_option"]["value"] == "slow"
    assert element("amount")["hint"]["text"] == "USD"
    plain = steer_modal(*question({**ARGS, "amount": 180}))
    amounts = [b for b in plain["blocks"] if b.get("block_id") == "arg.amount"]
    assert amounts[0]["element"]["initial_value"] == "180"


def test_a_secret_is_not_filled_in_and_stays_when_left_alone() -> None:
    assert "k3yk3yk3y" not in json.dumps(steer_modal(*question()))
    approval, call, _ = question()
    assert "initial_value" not in element("api_key")["element"]
    assert shown_above("api_key") == ["Api key", mask_of(9)]
    assert read_steer(sent(api_key=typed(None)), call, approval) == (None, None, {})
    for forged in (MASK, f"{MASK}x", "hunter2•••", "a•b", "•"):
        changed, _, errors = read_steer(sent(api_key=typed(forged)), call, approval)
        assert changed is None
        assert "masked" in errors["arg.api_key"]
    assert read_steer(sent(api_key=typed("new")), call)[0] == {"api_key": "new"}


@pytest.mark.parametrize("text", ["[1e999]", '[{"a": 1, "a": 2}]', "[" * 1_500])
def test_json_that_means_no_one_value_is_told_at_its_field(text: str) -> None:
    approval, call, _ = question()
    changed, _, errors = read_steer(sent(lines=typed(text)), call, approval)
    assert changed is None
    assert "Not JSON: " in errors["arg.lines"]


def test_a_secret_within_a_value_is_not_filled_in_either() -> None:
    approval, call, _ = question()
    assert "initial_value" not in element("login")["element"]
    assert shown_above("login") == ["Login", f'{{"user":"bob","key":"{mask_of(9)}"}}']
    forged = json.dumps({"user": "eve", "key": MASK})
    changed, _, errors = read_steer(sent(login=typed(forged)), call, approval)
    assert changed is None
    assert "masked" in errors["arg.login"]


def test_what_is_too_long_to_be_edited_stays_when_left_empty() -> None:
    assert "initial_value" not in element("script")["element"]
    assert element("script")["optional"]
    title, excerpt = shown_above("script")
    (label,) = [
        one["label"]["text"]
        for one in steer_modal(*question())["blocks"]
        if one.get("block_id") == "arg.script"
    ]
    assert label == "Script: another value"
    assert (title, excerpt[:3]) == ("Script", "xxx")
    assert excerpt.endswith("[shortened]")
    assert read_steer(sent(script=typed(None)), question()[1]) == (None, None, {})
    assert read_steer(sent(script=typed("ls")), question()[1])[0] == {"script": "ls"}


@pytest.mark.parametrize(
    ("values", "changed"),
    [
        (sent(amount=typed("90")), {"amount": "90"}),
        (sent(amount=typed(" 90 ")), {"amount": "90"}),
        (sent(amount=typed("180.50"), order=typed("ORD-3300\r\n")), None),
        (sent(note=typed(None)), {"note": None}),
        (sent(order=typed("")), {"order": ""}),
        (sent(urgent=chosen("true")), {"urgent": True}),
        (sent(urgent=chosen("false")), None),
        (sent(speed=chosen("3")), {"speed": 3}),
        (sent(lines=typed("[2]")), {"lines": [2]}),
        (sent(unheard_of=typed("x")), None),
        ({}, None),
    ],
)
def test_only_what_was_changed_is_read(
    values: dict[str, Any], changed: dict[str, JsonValue] | None
) -> None:
    approval, call, _ = question()
    assert read_steer(values, call, approval) == (changed, None, {})


@pytest.mark.parametrize(
    ("values", "block"),
    [
        (sent(lines=typed("[2")), "arg.lines"),
        (sent(times=typed("")), "arg.times"),
        (sent(speed=chosen("warp")), "arg.speed"),
    ],
)
def test_what_cant_be_read_is_an_error_at_its_field(values: dict[str, Any], block: str) -> None:
    changed, _, errors = read_steer(values, question()[1])
    assert changed is None
    assert list(errors) == [block]


def test_guidance_is_read_beside_the_arguments() -> None:
    values = sent(guidance=typed("  ask first \n"), order=typed("ORD-3300"))
    assert read_steer(values, question()[1]) == (None, "ask first", {})
    assert read_steer(sent(guidance=typed(" ")), question()[1]) == (None, None, {})


def test_errors_stand_at_their_inputs_and_others_at_the_guidance() -> None:
    errors = {
        "amount": "must be a number",
        "lines.0": "bad",
        "ghost": "odd",
        "guidance": "not both",
    }
    assert steer_errors(errors, question()[1]) == {
        "arg.amount": "must be a number",
        "arg.lines": "bad",
        "guidance": "ghost: odd not both",
    }


@pytest.mark.parametrize("text", ["", "[]", "null", '{"approval": 7}', "{"])
def test_foreign_metadata_names_no_approval(text: str) -> None:
    assert approval_of(text) is None


def test_a_notice_only_says_something() -> None:
    view = notice_modal("Somebody was faster than you", "Bob approved this.")
    assert len(view["title"]["text"]) <= 24
    assert "submit" not in view


def test_the_story_amount_reads_back_as_typed() -> None:
    state = waiting().state
    call = next(iter(state.calls.values()))
    assert read_steer(sent(amount=typed("90")), call) == ({"amount": "90"}, None, {})


def test_what_is_no_plain_number_is_told_at_its_field() -> None:
    approval, call, _ = question()
    _, _, errors = read_steer(sent(amount=typed("1e3")), call, approval)
    assert errors == {"arg.amount": "Enter a number, such as 90 or 90.50."}


@pytest.mark.parametrize(
    ("value", "changed", "errors"),
    [
        (90, {"amount": "90"}, {}),
        ({"x": 1}, None, {"arg.amount": "This is not a text. Write it again."}),
        ([9], None, {"arg.amount": "This is not a text. Write it again."}),
    ],
)
def test_a_value_that_is_no_text_is_told_at_its_field(
    value: object, changed: dict[str, JsonValue] | None, errors: dict[str, str]
) -> None:
    approval, call, _ = question()
    assert read_steer(sent(amount={"value": value}), call, approval) == (changed, None, errors)


def test_what_may_have_happened_is_given_guidance_only() -> None:
    state = started().then(judged(1, "ask", again_because="stricter")).then(asked(1)).state
    (approval,), (call,) = state.approvals.values(), state.open_calls
    text, *inputs = steer_modal(approval, call, state)["blocks"]
    assert "may have happened as it was" in json.dumps(text)
    assert [one["block_id"] for one in inputs] == ["guidance"]


def test_a_terminal_offers_no_change_of_what_may_have_happened() -> None:
    state = started().then(judged(1, "ask", again_because="stricter")).then(asked(1)).state
    (approval,) = state.approvals.values()
    assert how_to_decide(approval, state).endswith("steer apr_1 --guidance TEXT")
    before = waiting().state
    (asked_first,) = before.approvals.values()
    assert how_to_decide(asked_first, before).endswith("steer apr_1 --set NAME=VALUE")


def test_what_can_not_be_seen_in_an_input_is_named_below_it() -> None:
    below = "⚠️ It holds characters that can't be seen: "
    assert hint({"note": "7731\u202e, \u200bpaid\u202e"}, "note") == f"{below}⟦U+202E⟧ ⟦U+200B⟧"
    assert hint({"amount": "1\u200b"}, "amount") == f"USD {below}⟦U+200B⟧"
    many = "".join(map(chr, range(0x2060, 0x2070)))
    assert hint({"note": many}, "note").endswith("⟦U+2064⟧ …")
    assert hint({"note": "seen: 👩‍💻, é, 中文"}, "note") == ""
