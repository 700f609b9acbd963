"""Slack's limits: what is just right passes, one more is refused at the right place."""

from __future__ import annotations

from typing import Any

import pytest
from slack_sdk.errors import SlackApiError

from tests.sandbox.driving import Driver, button, modal, plain, text_input


def section(text: str) -> dict[str, Any]:
    return {"type": "section", "text": {"type": "mrkdwn", "text": text}}


def fields(count: int, length: int) -> dict[str, Any]:
    return {"type": "section", "fields": [plain("x" * length)] * count}


def actions(*elements: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "actions", "elements": [*elements]} | more


def overflow(count: int, text: str = "x", value: str = "v") -> dict[str, Any]:
    options = [{"text": plain(text), "value": value} for _ in range(count)]
    return actions({"type": "overflow", "action_id": "more", "options": options})


def confirm(**changed: Any) -> dict[str, Any]:
    texts = {"title": plain("t"), "text": plain("x"), "confirm": plain("y"), "deny": plain("n")}
    return actions(button("a", confirm=texts | changed))


def context(count: int) -> dict[str, Any]:
    return {"type": "context", "elements": [plain("x")] * count}


BLOCKS = [
    ([section("x" * 3000)], [section("x" * 3001)], "/blocks/0/text/text"),
    ([section("x")], [section("")], "/blocks/0/text/text"),
    ([section("x")], [{"type": "section"}], "/blocks/0"),
    ([fields(10, 2000)], [fields(11, 1)], "/blocks/0/fields"),
    ([fields(1, 2000)], [fields(1, 2001)], "/blocks/0/fields/0/text"),
    (
        [{"type": "header", "text": plain("x" * 150)}],
        [{"type": "header", "text": plain("x" * 151)}],
        "/blocks/0/text/text",
    ),
    (
        [{"type": "header", "text": plain("x")}],
        [{"type": "header", "text": {"type": "mrkdwn", "text": "x"}}],
        "/blocks/0/text/type",
    ),
    (
        [actions(button("a", text=plain("x" * 75)))],
        [actions(button("a", text=plain("x" * 76)))],
        "/blocks/0/elements/0/text/text",
    ),
    (
        [actions(button("a", "v" * 2000))],
        [actions(button("a", "v" * 2001))],
        "/blocks/0/elements/0/value",
    ),
    ([actions(button("a" * 255))], [actions(button("a" * 256))], "/blocks/0/elements/0/action_id"),
    (
        [actions(button("a"), block_id="b" * 255)],
        [actions(button("a"), block_id="b" * 256)],
        "/blocks/0/block_id",
    ),
    (
        [actions(button("a", style="primary"))],
        [actions(button("a", style="green"))],
        "/blocks/0/elements/0/style",
    ),
    (
        [actions(*(button(f"a{n}") for n in range(25)))],
        [actions(*(button(f"a{n}") for n in range(26)))],
        "/blocks/0/elements",
    ),
    (
        [actions(button("a")), actions(button("a"))],
        [actions(button("a"), button("a"))],
        "/blocks/0/elements",
    ),
    (
        [actions(button("a"), block_id="b"), actions(button("c"), block_id="c")],
        [actions(button("a"), block_id="b"), actions(button("c"), block_id="b")],
        "/blocks",
    ),
    ([section("x")] * 1, [section("x")] * 51, "/blocks"),
    ([overflow(1), context(10)], [overflow(6)], "/blocks/0/elements/0/options"),
    ([overflow(5, "x" * 75)], [overflow(1, "x" * 76)], "/blocks/0/elements/0/options/0/text/text"),
    ([overflow(5)], [overflow(1, value="v" * 151)], "/blocks/0/elements/0/options/0/value"),
    ([context(10)], [context(11)], "/blocks/0/elements"),
    (
        [confirm(title=plain("x" * 100))],
        [confirm(title=plain("x" * 101))],
        "/blocks/0/elements/0/confirm/title/text",
    ),
    (
        [confirm(text=plain("x" * 300))],
        [confirm(text=plain("x" * 301))],
        "/blocks/0/elements/0/confirm/text/text",
    ),
    (
        [confirm(deny=plain("x" * 30))],
        [confirm(deny=plain("x" * 31))],
        "/blocks/0/elements/0/confirm/deny/text",
    ),
    ([{"type": "divider"}], [{"type": "dividers"}], "/blocks/0/type"),
    ([actions(button("a"))], [actions({"type": "btn"})], "/blocks/0/elements/0/type"),
    ([text_input("a")], [actions({"type": "image"})], "/blocks/0/elements/0/type"),
    (
        [{"type": "markdown", "text": "x" * 12_000}],
        [{"type": "markdown", "text": "x" * 12_001}],
        "/blocks/0/text",
    ),
]


@pytest.mark.parametrize(("right", "wrong", "pointer"), BLOCKS)
async def test_blocks(driver: Driver, right: Any, wrong: Any, pointer: str) -> None:
    await driver.slack.chat_postMessage(channel="C0OPS", text="x", blocks=right)
    with pytest.raises(SlackApiError) as error:
        await driver.slack.chat_postMessage(channel="C0OPS", text="x", blocks=wrong)
    answer = error.value.response
    assert answer["error"] == "invalid_blocks"
    assert f"[json-pointer:{pointer}]" in " ".join(answer["response_metadata"]["messages"])
    (violation,) = await driver.get("/sandbox/violations")
    assert (violation["kind"], violation["method"]) == ("limit", "chat.postMessage")


VIEWS = [
    (modal(title=plain("x" * 24)), modal(title=plain("x" * 25)), "/view/title/text"),
    (modal(submit=plain("x" * 24)), modal(submit=plain("x" * 25)), "/view/submit/text"),
    (modal(close=plain("x" * 24)), modal(close=plain("x" * 25)), "/view/close/text"),
    (
        modal(private_metadata="x" * 3000),
        modal(private_metadata="x" * 3001),
        "/view/private_metadata",
    ),
    (modal(callback_id="x" * 255), modal(callback_id="x" * 256), "/view/callback_id"),
    (modal(*[section("x")] * 100), modal(*[section("x")] * 101), "/view/blocks"),
    (modal(text_input("a")), modal(text_input("a"), submit=None), "/view"),
    (
        modal(text_input("a", initial_value="x" * 3000)),
        modal(text_input("a", initial_value="x" * 3001)),
        "/view/blocks/0/element/initial_value",
    ),
    (modal(), {"type": "home", "blocks": []}, "/view/type"),
]


@pytest.mark.parametrize(("right", "wrong", "pointer"), VIEWS)
async def test_views(driver: Driver, right: Any, wrong: Any, pointer: str) -> None:
    trigger_id = driver.sandbox.triggers.issue("U0BOB")
    await driver.slack.views_open(trigger_id=trigger_id, view=right)
    with pytest.raises(SlackApiError) as error:
        await driver.slack.views_open(trigger_id=trigger_id, view=wrong)
    answer = error.value.response
    assert answer["error"] == "invalid_arguments"
    assert f"[json-pointer:{pointer}]" in " ".join(answer["response_metadata"]["messages"])


async def test_texts(driver: Driver) -> None:
    posted = await driver.slack.chat_postMessage(channel="C0OPS", text="x" * 40_001)
    assert len((await driver.messages("C0OPS"))[0]["text"]) == 40_000
    for method, arguments, code in [
        ("chat.update", {"ts": posted["ts"], "text": "x" * 4001}, "msg_too_long"),
        ("chat.postMessage", {"text": ""}, "no_text"),
        ("chat.update", {"ts": posted["ts"], "blocks": []}, "no_text"),
    ]:
        with pytest.raises(SlackApiError) as error:
            await driver.slack.api_call(method, json={"channel": "C0OPS", **arguments})
        assert error.value.response["error"] == code


async def test_blocks_may_come_as_a_string_of_json(driver: Driver) -> None:
    await driver.slack.api_call(
        "chat.postMessage",
        data={"channel": "C0OPS", "blocks": '[{"type": "divider"}]', "unknown": "1"},
    )
    (message,) = await driver.messages("C0OPS")
    assert message["blocks"][0]["type"] == "divider"
    assert message["blocks"][0]["block_id"]
