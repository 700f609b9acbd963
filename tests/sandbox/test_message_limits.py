"""Limits of a message as a whole, through the Web API."""

from __future__ import annotations

from typing import Any

import pytest

from bot.sandbox.guesses import Guesses
from tests.sandbox.driving import Driver, buttons, driving
from tests.sandbox.refusals import error_of


async def post(driver: Driver, **message: Any) -> Any:
    return await driver.slack.api_call("chat.postMessage", json={"channel": "C0OPS", **message})


def metadata(**payload: Any) -> dict[str, Any]:
    return {"event_type": "run", "event_payload": payload}


async def test_a_long_text_is_cut_and_the_app_warned(driver: Driver) -> None:
    posted = await post(driver, text="x" * 40_001)
    assert posted["warning"] == "message_truncated"
    assert len(posted["message"]["text"]) == 40_000
    private = {"channel": "C0OPS", "user": "U0BOB", "text": "x" * 40_001}
    ephemeral = driver.slack.api_call("chat.postEphemeral", json=private)
    assert await error_of(ephemeral) == "msg_too_long"


async def test_markdown_text_goes_alone(driver: Driver) -> None:
    posted = await post(driver, markdown_text="**bold**")
    assert posted["message"]["blocks"][0]["type"] == "markdown"
    assert await error_of(post(driver, markdown_text="x", text="y")) == "markdown_text_conflict"
    both = post(driver, markdown_text="x", blocks=buttons("a"))
    assert await error_of(both) == "markdown_text_conflict"
    assert await error_of(post(driver, markdown_text="x" * 12_001)) == "msg_too_long"


async def test_attachments(driver: Driver) -> None:
    posted = await post(driver, attachments=[{"text": "a & b"}, {"color": "red"}])
    first, second = posted["message"]["attachments"]
    assert (first["id"], first["text"], first["fallback"]) == (1, "a &amp; b", "a &amp; b")
    assert (second["id"], second["fallback"]) == (2, "[no preview available]")
    assert await error_of(post(driver, attachments=[{"text": "a"}] * 101)) == (
        "too_many_attachments"
    )
    for wrong in ("text", ["text"]):
        assert await error_of(post(driver, attachments=wrong)) == "invalid_attachments"
    assert await error_of(post(driver, attachments=[{"blocks": buttons("b")}])) == (
        "sandbox_has_no_blocks_in_attachments"
    )


async def test_metadata_is_one_level_deep_and_not_too_large() -> None:
    async with driving(guesses=Guesses(metadata_bytes=100)) as driver:
        await post(driver, text="x", metadata=metadata(a="b", c=1, d={"e": True}, f=[{"g": 1}]))
        for wrong, error in [
            (metadata(a={"b": {"c": 1}}), "invalid_metadata_schema"),
            (metadata(a=[[1]]), "invalid_metadata_schema"),
            (metadata(a=None), "invalid_metadata_schema"),
            (metadata(a="x" * 100), "metadata_too_large"),
            ({"event_type": "run"}, "invalid_metadata_format"),
            ("{", "invalid_metadata_format"),
        ]:
            assert await error_of(post(driver, text="x", metadata=wrong)) == error


async def test_an_update_keeps_metadata_unless_told_otherwise(driver: Driver) -> None:
    ts = (await post(driver, text="x", metadata=metadata(a="b")))["ts"]
    await driver.slack.chat_update(channel="C0OPS", ts=ts, text="y")
    assert (await driver.messages("C0OPS"))[0]["metadata"] == metadata(a="b")
    await driver.slack.chat_update(channel="C0OPS", ts=ts, text="z", metadata={})
    assert "metadata" not in (await driver.messages("C0OPS"))[0]


async def test_buttons_that_nobody_can_tell_apart_are_noted(driver: Driver) -> None:
    await post(driver, text="x", blocks=[*buttons("yes"), *buttons("yes"), *buttons("no")])
    (violation,) = await driver.get("/sandbox/violations")
    assert violation["kind"] == "duplicate_action_id"
    assert violation["detail"] == "yes is there 2 times in one message or view"


@pytest.mark.parametrize(
    ("field", "value", "error"),
    [
        ("blocks", "{", "invalid_blocks_format"),
        ("blocks", '{"type": "divider"}', "invalid_blocks"),
        ("attachments", "{", "invalid_attachments"),
        ("metadata", "[]", "invalid_metadata_format"),
    ],
)
async def test_json_in_a_form(driver: Driver, field: str, value: str, error: str) -> None:
    form = {"channel": "C0OPS", "text": "x", field: value}
    assert await error_of(driver.slack.api_call("chat.postMessage", data=form)) == error


async def test_a_body_that_is_no_json_is_told_and_recorded(driver: Driver) -> None:
    headers = {"Content-Type": "application/json"}
    for body, error in ((b"{", "invalid_json"), (b"[]", "json_not_object")):
        url = f"{driver.running.api_url}chat.postMessage"
        async with driver.http.post(url, data=body, headers=headers) as response:
            assert (await response.json())["error"] == error
    kept = driver.running.calls("chat.postMessage")
    assert [one["answer"]["error"] for one in kept] == ["invalid_json", "json_not_object"]


async def test_arguments_come_by_query_form_or_json(driver: Driver) -> None:
    slack = driver.slack
    parent = (await post(driver, text="x"))["ts"]
    said = {"channel": "C0OPS", "text": "y", "thread_ts": parent, "nobody_knows": "1"}
    await slack.api_call("chat.postMessage", params={**said, "reply_broadcast": "1"})
    await slack.api_call("chat.postMessage", data={**said, "reply_broadcast": "true"})
    await slack.api_call("chat.postMessage", json={**said, "reply_broadcast": True})
    await slack.api_call("chat.postMessage", params={**said, "reply_broadcast": "0"})
    thread = (await driver.messages("C0OPS", parent))[1:]
    assert [one.get("subtype") for one in thread] == [*["thread_broadcast"] * 3, None]
