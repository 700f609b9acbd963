"""A test in which the bot sends something wrong fails, whatever it is about."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from slack_sdk.errors import SlackApiError

from bot.sandbox.opened import open_sandbox
from bot.slack.clients import slack_client
from tests.bot.sent import check_acknowledgement

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


@pytest.mark.parametrize(
    "body",
    [
        {"response_action": "errors", "errors": {}},
        {"response_action": "errors", "errors": {"note": " "}},
        {"response_action": "close"},
        {"response_action": "clear", "view": {}},
        {"text": "Done", "delete_original": True},
        {"text": " "},
        "done",
    ],
)
def test_an_answer_that_slack_would_not_take_is_found(body: Any) -> None:
    with pytest.raises(AssertionError):
        check_acknowledgement(body)


async def test_what_is_sent_where_violations_are_allowed_is_looked_at_too() -> None:
    with pytest.raises(AssertionError):
        await _post_what_is_in_no_type()


async def _post_what_is_in_no_type() -> None:
    async with open_sandbox(allow_violations=True) as sandbox:
        slack = slack_client("xoxb-sandbox", sandbox.api_url)
        blocks = [row({**BUTTON, "visible_to_user_ids": ["U0BOB"]})]
        with suppress(SlackApiError):
            await slack.chat_postMessage(channel="C0SUPPORT", text="Odd", blocks=blocks)
