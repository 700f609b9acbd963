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
    """Where the sandbox itself lets pass what breaks Slack's rules."""
    async with open_sandbox(allow_violations=True) as sandbox:
        slack = slack_client("xoxb-sandbox", sandbox.api_url)
        with suppress(SlackApiError):
            await slack.api_call("chat.postMessage", json={"channel": "C0SUPPORT", **message})


async def show(*blocks: dict[str, Any]) -> None:
    """The same of a modal."""
    title = {"type": "plain_text", "text": "Two"}
    view = {"type": "modal", "title": title, "blocks": list(blocks)}
    async with open_sandbox(allow_violations=True) as sandbox:
        slack = slack_client("xoxb-sandbox", sandbox.api_url)
        trigger_id = sandbox.inside.triggers.issue("U0BOB")
        with suppress(SlackApiError):
            await slack.views_open(trigger_id=trigger_id, view=view)


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
    with pytest.raises(AssertionError):
        await post(**message)


@pytest.mark.parametrize(
    "blocks",
    [[row(BUTTON), row(BUTTON)], [row({**BUTTON, "visible_to_user_ids": ["U0BOB"]})]],
    ids=["one action id twice", "not in the types"],
)
async def test_a_wrong_modal_does_so_too(blocks: list[dict[str, Any]]) -> None:
    with pytest.raises(AssertionError):
        await show(*blocks)


async def test_right_ones_do_not() -> None:
    await post(text="Approve?", blocks=[SAID, row(BUTTON)])
    await show(SAID, row(BUTTON))


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
