"""What an app gets to know of clicks, choices, type-ahead and closed modals, field by field."""

from __future__ import annotations

from typing import Any

import pytest

from bot.sandbox.guesses import Guesses
from tests.sandbox.driving import button, buttons, driving, modal, plain, text_input
from tests.sandbox.hearing import Hearing, Json, hearing


def option(value: str) -> Json:
    return {"text": plain(value.upper()), "value": value}


def select(kind: str, action_id: str, **more: Any) -> Json:
    return {"type": kind, "action_id": action_id, **more}


def row(*elements: Json, block_id: str = "row") -> list[Json]:
    return [{"type": "actions", "block_id": block_id, "elements": [*elements]}]


async def test_a_click_says_who_where_and_what(app: Hearing) -> None:
    confirm = {"title": plain("?"), "text": plain("?"), "confirm": plain("y"), "deny": plain("n")}
    pressed = button("go", style="primary", confirm=confirm)
    parent = await app.post(buttons("other"))
    place = await app.post(
        row(pressed),
        thread_ts=parent["ts"],
        metadata={"event_type": "x", "event_payload": {}},
    )
    await app.act("click", "U0DAVE", **place, action_id="go")
    (body,) = app.heard
    assert body["container"] == {
        "type": "message",
        "message_ts": place["ts"],
        "channel_id": "C0OPS",
        "is_ephemeral": False,
        "thread_ts": parent["ts"],
    }
    assert body["user"] == {
        "id": "U0DAVE",
        "username": "dave",
        "name": "dave",
        "team_id": "T0OTHER",
    }
    assert (body["team"]["id"], body["enterprise"]) == ("T0PILOT", None)
    assert body["is_enterprise_install"] is False
    assert body["channel"] == {"id": "C0OPS", "name": "privategroup"}
    assert body["message"]["thread_ts"] == parent["ts"]
    assert "metadata" not in body["message"]
    assert body["state"] == {"values": {}}
    (action,) = body["actions"]
    assert action.pop("action_ts") > place["ts"]
    assert action == {
        "type": "button",
        "action_id": "go",
        "block_id": "row",
        "text": plain("Go"),
        "value": "apr_1",
        "style": "primary",
        "confirm": confirm,
    }


async def test_a_forged_value_and_a_button_of_an_older_picture_reach_the_app(app: Hearing) -> None:
    place = await app.post(row(button("go")))
    await app.act("click", **place, action_id="go", value="apr_forged")
    await app.driver.slack.chat_update(**place, text="Done.")
    late = await app.act("click", "U0FRANK", **place, action_id="go")
    assert late["acknowledged"]
    assert [one["actions"][0]["value"] for one in app.heard] == ["apr_forged", "apr_1"]
    assert "blocks" not in app.heard[1]["message"]


async def test_of_two_with_one_action_id_that_in_the_named_block_is_clicked(app: Hearing) -> None:
    first, second = row(button("go", "1"), block_id="a"), row(button("go", "2"), block_id="b")
    place = await app.post([*first, *second])
    await app.act("click", **place, action_id="go", block_id="b")
    await app.driver.slack.chat_update(**place, text="Done.")
    await app.act("click", **place, action_id="go", block_id="b")
    assert [one["actions"][0]["value"] for one in app.heard] == ["2", "2"]


async def test_whether_a_click_brings_metadata_is_a_guess() -> None:
    async with driving(guesses=Guesses(metadata_in_clicks=True)) as driver:
        metadata = {"event_type": "x", "event_payload": {}}
        async with hearing(driver) as app:
            place = await app.post(row(button("go")), metadata=metadata)
            await app.act("click", **place, action_id="go")
    assert app.heard[0]["message"]["metadata"]["event_type"] == "x"


async def test_a_click_in_a_view_brings_the_view_and_no_response_url(app: Hearing) -> None:
    view_id = await app.open(modal(text_input("a"), *row(button("go"))))
    await app.act("click", view_id=view_id, action_id="go", values={"a": "typed"})
    (body,) = app.heard
    assert body["container"] == {"type": "view", "view_id": view_id}
    assert body["view"]["state"]["values"]["a"]["value"]["value"] == "typed"
    assert not {"channel", "message", "response_url", "state"} & set(body)


async def test_a_field_that_waits_for_submission_tells_the_app_nothing(app: Hearing) -> None:
    waiting, telling = text_input("a"), text_input("b") | {"dispatch_action": True}
    view_id = await app.open(modal(waiting, telling))
    chosen = {"view_id": view_id, "action_id": "value", "selected": "typed"}
    kept = await app.act("click", **chosen, block_id="a")
    assert list(kept["errors"]) == ["value"]
    assert (await app.act("click", **chosen, block_id="b"))["acknowledged"]
    (body,) = app.heard
    assert (body["actions"][0]["block_id"], body["actions"][0]["value"]) == ("b", "typed")


async def test_choices_are_each_persons_and_in_the_state_of_what_follows(app: Hearing) -> None:
    options = [option("a"), option("b")]
    chooser = select("static_select", "choose", options=options, initial_option=options[0])
    place = await app.post(row(chooser, button("go")))
    await app.act("click", **place, action_id="choose", selected="b")
    for user in ("U0BOB", "U0FRANK"):
        await app.act("click", user, **place, action_id="go")
    choice, bobs, franks = app.heard
    assert choice["actions"][0]["selected_option"] == options[1]
    assert choice["actions"][0]["initial_option"] == options[0]
    states = [one["state"]["values"]["row"]["choose"]["selected_option"] for one in (bobs, franks)]
    assert states == [options[1], options[0]]


async def test_other_choices_have_slacks_names(app: Hearing) -> None:
    overflow = select("overflow", "more", options=[option("a"), option("b")])
    rated = {
        "type": "context_actions",
        "elements": [
            {
                "type": "feedback_buttons",
                "action_id": "rate",
                "positive_button": {"text": plain("Good"), "value": "good"},
                "negative_button": {"text": plain("Bad"), "value": "bad"},
            }
        ],
    }
    place = await app.post([*row(overflow, select("datepicker", "day")), rated])
    await app.act("click", **place, action_id="more", selected="b")
    await app.act("click", **place, action_id="day", selected="2027-01-01")
    await app.act("click", **place, action_id="rate", selected="good")
    first, second, third = (one["actions"][0] for one in app.heard)
    assert first["selected_option"]["value"] == "b"
    assert second["selected_date"] == "2027-01-01"
    assert third["value"] == "good"
    for action_id, wrong in {"more": "c", "day": "soon", "rate": "so-so"}.items():
        kept = await app.act("click", **place, action_id=action_id, selected=wrong)
        assert list(kept["errors"]) == [action_id]
    assert len(app.heard) == 3


async def test_type_ahead_is_asked_and_only_what_was_suggested_can_be_chosen(
    app: Hearing,
) -> None:
    place = await app.post(row(select("external_select", "find", min_query_length=2)))
    early = await app.act("options", **place, action_id="find", value="a")
    assert early["errors"] == {"find": "Type at least 2 characters."}
    group = {"label": plain("G"), "options": [option("ab")]}
    app.answers = [{"option_groups": [group]}]
    suggested = await app.act("options", **place, action_id="find", value="ab")
    assert suggested["option_groups"] == [group]
    (body,) = app.heard
    assert body["type"] == "block_suggestion"
    assert (body["action_id"], body["block_id"], body["value"]) == ("find", "row", "ab")
    assert body["container"]["message_ts"] == place["ts"]

    kept = await app.act("click", **place, action_id="find", selected="zz")
    assert kept["errors"] == {"find": "Please choose one of: ab."}
    others = await app.act("click", "U0FRANK", **place, action_id="find", selected="ab")
    assert others["errors"] == {"find": "Please choose one of: nothing yet."}
    await app.act("click", **place, action_id="find", selected="ab")
    assert app.heard[-1]["actions"][0]["selected_option"] == option("ab")


@pytest.mark.parametrize(
    "answer",
    [
        {},
        {"options": [option("x" * 151)]},
        {"options": [option(str(n)) for n in range(101)]},
        {"options": [option("a")], "option_groups": []},
        {"options": "a"},
    ],
)
async def test_suggestions_that_slack_would_refuse_are_noted(app: Hearing, answer: Json) -> None:
    place = await app.post(row(select("external_select", "find")))
    app.answers = [answer]
    found = await app.act("options", **place, action_id="find", value="abc")
    assert found["error"] == "invalid_arguments"
    assert app.violations == ["refused_acknowledgement"]


async def test_no_suggestion_is_an_answer(app: Hearing) -> None:
    place = await app.post(row(select("external_select", "find", min_query_length=0)))
    app.answers = [{"options": []}]
    assert (await app.act("options", **place, action_id="find"))["options"] == []
    assert app.violations == []
