"""A test in which the bot sends something wrong fails, whatever it is about."""

from __future__ import annotations

from typing import Any

import pytest
from slack_sdk.errors import SlackApiError

from bot.sandbox.opened import open_sandbox
from bot.slack.clients import slack_client

BUTTON = {
    "type": "button",
    "action_id": "approval.approve",
    "text": {"type": "plain_text", "text": "Approve", "emoji": False},
    "value": "apr_1",
    "accessibility_label": "Approve: it",
}
SAID = {"type": "section", "text": {"type": "plain_text", "text": "&" * 500}}


def row(*buttons: dict[str, Any]) -> dict[str, Any]:
    return {"type": "actions", "elements": list(buttons)}


async def post(**message: Any) -> None:
    async with open_sandbox() as sandbox:
        slack = slack_client("xoxb-sandbox", sandbox.api_url)
        await slack.api_call("chat.postMessage", json={"channel": "C0SUPPORT", **message})


async def show(view: dict[str, Any]) -> None:
    async with open_sandbox() as sandbox:
        slack = slack_client("xoxb-sandbox", sandbox.api_url)
        await slack.views_open(trigger_id=sandbox.inside.triggers.issue("U0BOB"), view=view)


@pytest.mark.parametrize(
    "message",
    [
        {"blocks": [SAID]},
        {"text": " ", "blocks": [SAID]},
        {"text": "Two", "blocks": [row(BUTTON), row(BUTTON)]},
        {"text": "Long", "blocks": [SAID] * 5},
        {"text": "Odd", "blocks": [row({**BUTTON, "visible_to_user_ids": ["U0BOB"]})]},
    ],
    ids=["no text", "blank text", "one action id twice", "long when escaped", "not in the types"],
)
async def test_a_wrong_message_fails_the_test_that_sent_it(message: dict[str, Any]) -> None:
    with pytest.raises((AssertionError, SlackApiError)):
        await post(**message)


async def test_a_right_one_does_not() -> None:
    await post(text="Approve?", blocks=[SAID, row(BUTTON)])


async def test_a_modal_is_looked_at_too() -> None:
    view = {
        "type": "modal",
        "title": {"type": "plain_text", "text": "Two"},
        "blocks": [row(BUTTON), row(BUTTON)],
    }
    with pytest.raises((AssertionError, SlackApiError)):
        await show(view)
