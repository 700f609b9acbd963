"""What nobody should send: answered all the same, and nothing of it is done, or logged."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from bot.slack.cards.blocks import actions, button
from bot.slack.ids import APPROVE
from tests.bot.slack.workspace import Bot, Json

SECRET = "xoxb-very-secret"
BOB = {"id": "U0BOB", "team_id": "T0PILOT"}
GARBAGE: list[Json] = [
    {},
    {"type": "block_actions"},
    {"type": "block_actions", "actions": [], "user": BOB},
    {"type": "block_actions", "actions": [{}], "user": BOB},
    {"type": "block_actions", "actions": [{"action_id": 5}], "user": BOB},
    {"type": "block_actions", "actions": {"a": SECRET}, "user": BOB},
    {"type": "block_actions", "actions": [{"action_id": APPROVE, "value": SECRET}], "user": BOB},
    {"type": "block_actions", "actions": [{"action_id": APPROVE, "value": "apr_1"}], "user": 5},
    {"type": "block_actions", "actions": [{"action_id": APPROVE}], "user": SECRET},
    {"type": "view_submission", "view": {"callback_id": "approval.steer", "id": "V1"}},
    {"type": "view_submission", "user": BOB, "view": {"type": "modal", "callback_id": "unknown"}},
    {
        "type": "view_submission",
        "user": BOB,
        "view": {
            "type": "modal",
            "id": "V1",
            "callback_id": "approval.steer",
            "private_metadata": SECRET,
            "state": {"values": {}},
        },
    },
    {
        "type": "view_submission",
        "user": BOB,
        "view": {
            "type": "modal",
            "id": "V1",
            "callback_id": "approval.steer",
            "private_metadata": '{"approval": "apr_1"}',
            "state": {"values": {"arg.amount": SECRET}},
        },
    },
    {
        "type": "view_submission",
        "user": BOB,
        "view": {"id": "V1", "callback_id": "run.ask", "private_metadata": SECRET},
    },
    {"type": "view_closed", "view": {}},
    {"type": "shortcut", "callback_id": "x", "user": BOB, "trigger_id": SECRET},
    {"type": "message_action", "callback_id": "x", "user": BOB},
    {"type": "message_action", "callback_id": "run.ask", "user": BOB, "message": SECRET},
    {"type": "block_suggestion", "action_id": "x", "value": SECRET},
    {"type": "something new", "user": BOB},
    {"type": 7, "team": [SECRET], "user": [SECRET]},
    {"type": "block_actions", "user": None, "team": 5, "enterprise": 5},
    {"type": "event_callback", "event": SECRET},
    {"type": "event_callback", "event": {"type": "app_mention"}},
    {"type": "event_callback", "event": {"type": "message", "channel_type": "im", "user": 5}},
    {"type": "event_callback", "event": None, "authorizations": 5},
    {"command": 5},
    {"command": "/agent"},
    {"command": "/agent", "user_id": "U0BOB", "channel_id": [], "text": SECRET},
]


@pytest.mark.parametrize("payload", GARBAGE, ids=lambda one: str(one)[:60])
async def test_garbage_is_acknowledged_and_leaves_no_trace(
    bot: Bot, payload: Json, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    answer = await bot.sandbox.inside.outbox.interact("interactive", payload)
    assert answer.reply.acknowledged
    await bot.services.answering.drain(5)
    assert SECRET not in caplog.text
    assert await bot.runs() == []
    # The process lives, and the next one is served.
    assert (await bot.command("U0ALICE", "help"))["acknowledged"]


def steer_form(**view: Any) -> Json:
    """What is sent off with the Steer modal of no approval, by a Slack that tells little."""
    known = {
        "id": "V1",
        "callback_id": "approval.steer",
        "private_metadata": '{"approval": "apr_1"}',
    }
    return {"type": "view_submission", "user": BOB, "view": {**known, **view}}


@pytest.mark.parametrize("view", [{}, {"state": None}, {"state": {"values": {}}}])
async def test_a_modal_that_does_not_say_it_is_one_is_read(bot: Bot, view: Json) -> None:
    answer = await bot.sandbox.inside.outbox.interact("interactive", steer_form(**view))
    assert "we know of no such question" in str(answer.reply.body["view"])


@pytest.mark.parametrize(
    "payload",
    [
        {"type": "view_submission", "user": BOB, "view": {"id": "V1"}},
        {"type": "view_submission", "user": BOB, "view": None},
        {"type": "view_submission", "user": BOB, "view": 5},
        {"type": "view_submission", "user": BOB, "view": "callback_id"},
        {"type": "view_submission", "user": BOB, "view": {"type": "modal", "callback_id": SECRET}},
        {"type": "view_submission", "user": BOB, "authorizations": 5},
        steer_form(private_metadata=SECRET),
        steer_form(state={"values": SECRET}),
    ],
    ids=str,
)
async def test_a_modal_that_can_not_be_read_says_so_in_words(
    bot: Bot, payload: Json, caplog: pytest.LogCaptureFixture
) -> None:
    answer = await bot.sandbox.inside.outbox.interact("interactive", payload)
    assert answer.reply.body["response_action"] == "update"
    assert "Nothing was done" in str(answer.reply.body["view"])
    assert SECRET not in caplog.text
    assert "Traceback" not in caplog.text


async def test_an_unknown_button_is_acknowledged_and_explained(bot: Bot) -> None:
    said = await bot.services.slack.chat_postMessage(
        channel="C0SUPPORT",
        text="old",
        blocks=[actions(button("Use it", "guidance.undo", "apr_1", about="what it is"))],
    )
    card = {"channel": "C0SUPPORT", "ts": said["ts"]}
    assert (await bot.click("U0BOB", card, "guidance.undo"))["acknowledged"]
    assert "not known" in await bot.whispered("U0BOB", "Nothing was done")


async def test_an_unknown_command_is_acknowledged_and_explained(bot: Bot) -> None:
    said = await bot.act("U0BOB", "command", channel="C0SUPPORT", command="/agents", text="x")
    assert said["acknowledged"]
    await bot.whispered("U0BOB", "this command is not known")


async def test_an_unreadable_command_is_answered_in_words(bot: Bot) -> None:
    payload: Any = {"command": "/agent", "user_id": "U0BOB", "channel_id": "general"}
    answer = await bot.sandbox.inside.outbox.interact("slash_commands", payload)
    assert "could not be read" in answer.reply.body["text"]


async def test_nothing_secret_is_logged_of_a_whole_story(
    bot: Bot, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    await bot.say("U0ALICE", "<@U0PILOT> refund ORD-3300 with word-of-mouth", "C0SUPPORT")
    card, _, state = await bot.post_card()
    await bot.click("U0ALICE", card, APPROVE)
    await bot.click("U0BOB", card, "approval.steer")
    await bot.click("U0BOB", card, APPROVE)
    await bot.ended_run(state.run_id)
    await bot.services.answering.drain(5)
    ours = "\n".join(
        record.getMessage()
        for record in caplog.records
        if record.name.startswith(("bot.", "slack"))
    )
    for secret in ("word-of-mouth", "xoxb-", "xapp-", "/response/", "ticket=", "trigger_id"):
        assert secret not in ours
