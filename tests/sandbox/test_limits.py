"""Limits through the Web API, those of views, and those of a message's blocks in sum."""

from __future__ import annotations

from typing import Any

import pytest
from slack_sdk.errors import SlackApiError

from bot.sandbox.limits.messages import check_message_blocks
from bot.sandbox.limits.views import check_view
from bot.sandbox.wire import SlackError
from tests.sandbox.driving import Driver, button, modal, plain, text_input
from tests.sandbox.kit import (
    DIVIDER,
    Block,
    acting,
    actions,
    card,
    cell,
    container,
    field,
    section,
    table,
    task,
)


async def test_what_is_refused_is_told_with_the_place_and_is_a_violation(driver: Driver) -> None:
    wrong = [section("x"), actions(button("a", text=plain("x" * 76)))]
    with pytest.raises(SlackApiError) as error:
        await driver.slack.chat_postMessage(channel="C0OPS", text="x", blocks=wrong)
    answer = error.value.response
    assert answer["error"] == "invalid_blocks"
    assert answer["response_metadata"]["messages"] == [
        "[ERROR] must be less than 76 characters [json-pointer:/blocks/1/elements/0/text/text]"
    ]
    (violation,) = await driver.get("/sandbox/violations")
    assert (violation["kind"], violation["method"]) == ("limit", "chat.postMessage")


def test_too_many_blocks_are_counted_before_each_is_looked_at() -> None:
    blocks = [{"type": "nonsense", "block_id": str(number)} for number in range(60_000)]
    with pytest.raises(SlackError) as error:
        check_message_blocks(blocks)
    assert error.value.messages == ["[ERROR] no more than 50 items allowed [json-pointer:/blocks]"]


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
    (modal(clear_on_close=True), modal(clear_on_close="yes"), "/view/clear_on_close"),
    (modal(), modal(state={}), "/view"),
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
    posted = await driver.slack.chat_postMessage(channel="C0OPS", text="x")
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


GARBAGE: list[Block] = [
    {"type": []},
    {"type": {"text": 5}, "child_blocks": [{}]},
    {"type": "table", "rows": [[cell()]], "column_settings": 5},
    acting(type="external_select", min_query_length="two"),
    acting(type="external_select", initial_option="x"),
    acting(type="multi_external_select", initial_options=[5]),
]


@pytest.mark.parametrize("block", GARBAGE)
def test_garbage_is_refused(block: Block) -> None:
    assert refusal([block]) == "invalid_blocks"


def refusal(blocks: list[Block]) -> str:
    with pytest.raises(SlackError) as error:
        check_message_blocks(blocks)
    return error.value.code


def markdown(length: int) -> Block:
    return {"type": "markdown", "text": "x" * length}


def test_markdown_is_counted_in_sum() -> None:
    check_message_blocks([markdown(6000), markdown(6000)])
    assert refusal([markdown(6000), markdown(6001)]) == "invalid_blocks"


def test_all_texts_are_counted_in_sum() -> None:
    sections = [{"type": "section", "text": plain("x" * 2200)} for _ in range(6)]
    check_message_blocks(sections)
    assert refusal([*sections, {"type": "header", "text": plain("x")}]) == "msg_blocks_too_long"


def test_a_message_has_one_table() -> None:
    check_message_blocks([table(1, 1)])
    assert refusal([table(1, 1), container(table(1, 1))]) == "invalid_attachments"


def test_length_is_that_after_escaping() -> None:
    def button_saying(text: str) -> list[Block]:
        return [acting(**button("a", text=plain(text)))]

    check_message_blocks(button_saying("&" * 15))
    assert refusal(button_saying("&" * 16)) == "invalid_blocks"
    check_message_blocks(button_saying("&amp;" * 15))


def test_what_may_stand_in_a_modal() -> None:
    alert = {"type": "alert", "text": plain("x" * 200), "level": "warning"}
    check_view(modal(alert, field(type="file_input")), kinds=("modal",))
    for wrong in (
        alert | {"text": plain("x" * 201)},
        alert | {"level": "loud"},
        table(1, 1),
        card(),
        container(DIVIDER),
        markdown(1),
        task(),
    ):
        with pytest.raises(SlackError):
            check_view(modal(wrong), kinds=("modal",))


def test_what_may_stand_on_app_home() -> None:
    check_view({"type": "home", "blocks": [card(), container(DIVIDER)]}, kinds=("home",))
    for wrong in ({"type": "alert", "text": plain("x")}, table(1, 1), field(type="file_input")):
        with pytest.raises(SlackError):
            check_view({"type": "home", "blocks": [wrong]}, kinds=("home",))


def test_a_view_has_a_size() -> None:
    inputs = [text_input(f"a{number}", initial_value="x" * 3000) for number in range(100)]
    with pytest.raises(SlackError, match="view_too_large"):
        check_view(modal(*inputs), kinds=("modal",))
    check_view(modal(*inputs[:75]), kinds=("modal",))
