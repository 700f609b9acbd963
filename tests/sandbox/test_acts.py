"""What people do: what the app hears of it, and what can't be done."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from bot.sandbox.act.typing import as_blocks, as_sent
from bot.sandbox.seed import seeded
from tests.sandbox.driving import Driver, buttons, driving, modal, text_input
from tests.sandbox.hearing import Hearing, hearing

SAY = {"as": "U0ALICE", "do": "message", "channel": "C0OPS", "text": "x"}
CLICK = {"as": "U0BOB", "do": "click", "channel": "C0OPS", "action_id": "approval.approve"}
ALICES = {"channel": "C0SUPPORT", "ts": "TS"}
#: Done as Bob where it doesn't say otherwise; `TS` is a message of Alice's in C0SUPPORT.
IMPOSSIBLE: list[tuple[dict[str, Any], int, str]] = [
    ({"do": "edit", **ALICES, "text": "x"}, 403, "Bob did not write"),
    ({"do": "delete", **ALICES}, 403, "Bob did not write"),
    ({"do": "delete", "channel": "C0SUPPORT", "ts": "1.1"}, 404, "No message 1.1"),
    ({"do": "unreact", **ALICES, "name": "tada"}, 400, "no_reaction"),
    ({"do": "react", "channel": "C0OPS", "ts": "TS", "name": "tada"}, 404, "message_not_found"),
    ({"do": "react", **ALICES}, 400, "`name` is missing"),
    ({"do": "join", "channel": "C0SUPPORT"}, 400, "is in C0SUPPORT already"),
    ({"do": "join", "channel": "D0ALICE"}, 400, "direct message"),
    ({"do": "leave", "channel": "D0BOB"}, 400, "direct message"),
    ({"do": "invite", "channel": "C0SUPPORT"}, 400, "Pilothouse is in C0SUPPORT already"),
    ({"do": "invite", "channel": "C0SUPPORT", "whom": "U0NONE"}, 404, "No user U0NONE"),
    ({"do": "invite", "channel": "D0BOB"}, 400, "direct message"),
    ({**SAY, "broadcast": True}, 400, "Only a reply"),
    ({**SAY, "broadcast": "yes"}, 400, "`broadcast` is true or false"),
    ({"do": "set_group", "group": "S0NONE", "members": []}, 404, "There are: S0FINANCE"),
    ({"do": "set_group", "group": "S0FINANCE", "members": "U0BOB"}, 400, "a list of people"),
    ({"do": "set_group", "group": "S0FINANCE", "members": ["U0NO"]}, 404, "No user U0NO"),
    ({"do": "deactivate", "whom": "U0ERIN"}, 400, "Erin is deactivated already"),
    ({"do": "bot_message", "channel": "C0OPS"}, 400, "`text` is missing"),
    ({"do": "unfurl", **ALICES}, 400, "has no link"),
    ({"do": "unfurl", **ALICES, "ts": "1.1"}, 404, "No message 1.1"),
    ({"do": "home", "tab": "about"}, 400, "`tab` is one of home, messages"),
    ({"do": "shortcut"}, 400, "`callback_id` is missing"),
    ({"do": "shortcut", "callback_id": "x", **ALICES, "ts": "1.1"}, 404, "No message 1.1"),
    ({"do": "options", **ALICES, "action_id": "go"}, 404, "No go on message"),
    ({"do": "stop_session", "channel": "D0BOB", "thread_ts": "1.1"}, 400, "no Stop button"),
    ({"do": "verify_urls"}, 400, "Socket Mode"),
    ({**SAY, "as": "U0NONE"}, 404, "No user U0NONE"),
    ({**SAY, "as": "U0PILOT"}, 404, "No user U0PILOT"),
    ({**SAY, "channel": "C0NONE"}, 404, "No channel C0NONE"),
    ({**SAY, "thread_ts": "1.1"}, 404, "No message 1.1"),
    ({**SAY, "do": "dance"}, 400, "`do` is one of"),
    ({"as": "U0ALICE", "do": "message", "channel": "C0OPS"}, 400, "`text` is missing"),
    ({**SAY, "do": "command", "command": "agent"}, 400, "begins with a slash"),
    ({**CLICK, "ts": "1.1"}, 404, "No message 1.1"),
    ({"as": "U0BOB", "do": "submit", "view_id": "V0NONE"}, 404, "no view V0NONE"),
    ({"as": "U0BOB", "do": "close", "view_id": "V0NONE"}, 404, "no view V0NONE"),
]


@pytest.mark.parametrize(("body", "status", "why"), IMPOSSIBLE)
async def test_what_can_not_be_done_is_said(
    driver: Driver, body: dict[str, Any], status: int, why: str
) -> None:
    ts = driver.said("U0ALICE", "C0SUPPORT")
    body = {name: ts if value == "TS" else value for name, value in body.items()}
    found, answer = await driver.request("POST", "/sandbox/act", {"as": "U0BOB", **body})
    assert (found, answer["ok"]) == (status, False)
    assert why in answer["error"]


async def test_button_that_never_was_is_not_clicked(driver: Driver) -> None:
    posted = await driver.slack.chat_postMessage(channel="C0OPS", text="?", blocks=buttons("other"))
    body = {**CLICK, "ts": posted["ts"]}
    status, answer = await driver.request("POST", "/sandbox/act", body)
    assert (status, answer["error"]) == (
        404,
        f"No approval.approve on message {posted['ts']}. There are: other.",
    )


async def test_submission_names_blocks_that_are_there(driver: Driver) -> None:
    trigger_id = driver.sandbox.triggers.issue("U0BOB")
    view = modal(text_input("arg.amount"))
    opened = await driver.slack.views_open(trigger_id=trigger_id, view=view)
    body = {"as": "U0BOB", "do": "submit", "view_id": opened["view"]["id"]}
    status, answer = await driver.request(
        "POST", "/sandbox/act", {**body, "values": {"amount": "1"}}
    )
    assert status == 400
    assert "arg.amount" in answer["error"]
    status, _ = await driver.request("POST", "/sandbox/act", {**body, "as": "U0ALICE"})
    assert status == 404, "another person's modal"


async def test_a_select_that_asks_nobody_has_no_type_ahead(driver: Driver) -> None:
    posted = await driver.slack.chat_postMessage(channel="C0OPS", text="?", blocks=buttons("go"))
    body = {"as": "U0BOB", "do": "options", "channel": "C0OPS", "ts": posted["ts"]}
    status, answer = await driver.request("POST", "/sandbox/act", {**body, "action_id": "go"})
    assert (status, answer["error"]) == (400, "go is a button, which asks the app for nothing.")


async def test_an_app_hears_only_what_it_subscribed_to_and_where_it_is() -> None:
    events = {"message.channels", "member_left_channel"}
    async with driving(events=events) as driver, hearing(driver) as app:
        assert (await app.act("message", channel="C0SUPPORT", text="x"))["acknowledged"]
        assert (await app.act("leave", channel="C0OPS"))["acknowledged"]
        driver.sandbox.workspace.channels["C0SHARED"].members.remove("U0PILOT")
        for unheard in (
            await app.act("message", channel="D0BOB", text="x"),
            await app.act("join", channel="C0OPS"),
            await app.act("leave", channel="C0SHARED"),
        ):
            assert unheard["why"] == "the app is not told of this"
        kinds = [one["event"]["type"] for one in app.heard]
        assert kinds == ["message", "member_left_channel"]


@pytest.mark.parametrize(
    ("typed", "sent"),
    [
        ("@Pilothouse hi", "<@U0PILOT> hi"),
        ("please @PILOTHOUSE: go", "please <@U0PILOT>: go"),
        ("<@U0PILOT> hi <b>", "<@U0PILOT> hi &lt;b&gt;"),
        ("mail@pilothouse", "mail@pilothouse"),
        ("@pilothouses", "@pilothouses"),
        ("@finance & @Bob", "<!subteam^S0FINANCE> &amp; <@U0BOB>"),
        ("https://example.com/?a=1&b=2.", "<https://example.com/?a=1&amp;b=2>."),
        ("&lt; & <!here>", "&amp;lt; &amp; <!here>"),
    ],
)
def test_typed_text_becomes_slacks(typed: str, sent: str) -> None:
    assert as_sent(typed, seeded()) == sent


def test_sent_text_is_drawn_as_it_was_typed() -> None:
    (block,) = as_blocks("<@U0BOB> &lt;b&gt; <https://example.com/?a=1&amp;b> <!here>")
    (section,) = block["elements"]
    assert section["elements"] == [
        {"type": "user", "user_id": "U0BOB"},
        {"type": "text", "text": " <b> "},
        {"type": "link", "url": "https://example.com/?a=1&b"},
        {"type": "text", "text": " "},
        {"type": "broadcast", "range": "here"},
    ]


@pytest.mark.parametrize("by", ["its author", "the app", "an administrator"])
async def test_of_a_deleted_parent_with_replies_a_tombstone_is_left(
    driver: Driver, by: str
) -> None:
    if by == "the app":
        parent = str((await driver.slack.chat_postMessage(channel="C0OPS", text="p"))["ts"])
    else:
        parent = driver.said("U0BOB", "C0OPS")
    await driver.slack.chat_postMessage(channel="C0OPS", text="r", thread_ts=parent)
    deleting = asyncio.create_task(delete(driver, by, parent))

    async def told() -> list[Any]:
        events = [one["payload"]["event"] for one in await driver.deliveries()]
        return [one for one in events if one.get("subtype", "").startswith("message_")]

    async with hearing(driver):
        (event,) = await driver.running.until(told)
        await deleting
        assert (event["subtype"], event["message"]["subtype"]) == ("message_changed", "tombstone")
        assert event["previous_message"]["ts"] == event["message"]["ts"] == parent

        reply = (await driver.messages("C0OPS", parent))[1]["ts"]
        await driver.slack.chat_delete(channel="C0OPS", ts=reply)
        await driver.fault(delete_message={"channel": "C0OPS", "ts": parent})
        deleted = [
            one for one in await driver.running.until(told) if one["subtype"] == "message_deleted"
        ]
        assert [one["deleted_ts"] for one in deleted] == [reply, parent]


async def delete(driver: Driver, by: str, ts: str) -> None:
    if by == "its author":
        await driver.act("U0BOB", "delete", channel="C0OPS", ts=ts)
    elif by == "the app":
        await driver.slack.chat_delete(channel="C0OPS", ts=ts)
    else:
        await driver.fault(delete_message={"channel": "C0OPS", "ts": ts})


async def test_a_commands_text_has_tokens_where_the_app_asks_for_them(app: Hearing) -> None:
    for is_escaped in (False, True):
        app.driver.sandbox.policies.change({"commands_escaped": is_escaped})
        await app.act("command", channel="C0OPS", command="/agent", text="@alice & <#C0OPS>")
    assert [one["text"] for one in app.heard] == [
        "@alice &amp; &lt;#C0OPS&gt;",
        "<@U0ALICE> &amp; <#C0OPS>",
    ]
