"""Streamed messages, through the SDK's own methods and its helper."""

from __future__ import annotations

from typing import Any

import pytest
from slack_sdk.models.messages.chunk import (
    BlocksChunk,
    MarkdownTextChunk,
    PlanUpdateChunk,
    TaskUpdateChunk,
)

from bot.sandbox.guesses import Guesses
from tests.sandbox.driving import MOMENT, Driver, buttons, driving
from tests.sandbox.refusals import error_of

RECIPIENT: dict[str, Any] = {"recipient_user_id": "U0BOB", "recipient_team_id": "T0PILOT"}


async def begin(driver: Driver, channel: str = "C0OPS", **more: Any) -> tuple[str, str]:
    """A stream under a new message: the ts of both."""
    parent = await driver.slack.chat_postMessage(channel=channel, text="asked")
    given = more if channel.startswith("D") else RECIPIENT | more
    begun = await driver.slack.chat_startStream(channel=channel, thread_ts=parent["ts"], **given)
    return parent["ts"], begun["ts"]


async def seen(driver: Driver, user: str, thread: str, channel: str = "C0OPS") -> list[str]:
    place = f"/sandbox/channels/{channel}/messages?thread_ts={thread}&as={user}"
    return [one["text"] for one in (await driver.get(place))[1:]]


async def test_text_grows_and_only_the_recipient_sees_it_before_the_end(driver: Driver) -> None:
    slack = driver.slack
    thread, ts = await begin(driver, markdown_text="**One** & ")
    await slack.chat_appendStream(channel="C0OPS", ts=ts, markdown_text="two")
    assert await seen(driver, "U0BOB", thread) == ["**One** &amp; two"]
    assert await seen(driver, "U0FRANK", thread) == ["**One** &amp; "]
    assert (await driver.messages("C0OPS", thread))[1]["streaming_state"] == "in_progress"
    stopped = await slack.chat_stopStream(
        channel="C0OPS",
        ts=ts,
        markdown_text="!",
        blocks=buttons("rate"),
        metadata={"event_type": "answer", "event_payload": {"run": "1"}},
    )
    message = stopped["message"]
    assert message["streaming_state"] == "completed"
    assert [block["type"] for block in message["blocks"]] == ["markdown", "actions"]
    assert message["blocks"][0]["text"] == "**One** & two!"
    assert await seen(driver, "U0FRANK", thread) == ["**One** &amp; two!"]
    read = await slack.conversations_replies(channel="C0OPS", ts=thread, include_all_metadata=True)
    assert read["messages"][1]["metadata"]["event_payload"] == {"run": "1"}
    assert "rate" in driver.sandbox.messages.controls("C0OPS", ts), "it can be clicked"


async def test_tasks_grow_by_deltas_and_keep_their_place(driver: Driver) -> None:
    slack = driver.slack
    thread, ts = await begin(
        driver,
        chunks=[
            MarkdownTextChunk(text="Looking. "),
            TaskUpdateChunk(id="1", title="Search", status="in_progress", details="a"),
        ],
    )
    more = [
        MarkdownTextChunk(text="Found."),
        TaskUpdateChunk(id="1", title="Searched", status="complete", details="b", output="c"),
        BlocksChunk(blocks=[{"type": "divider"}]),
    ]
    await slack.chat_appendStream(channel="C0OPS", ts=ts, chunks=more)
    await slack.chat_stopStream(channel="C0OPS", ts=ts)
    blocks = (await driver.messages("C0OPS", thread))[1]["blocks"]
    kinds = [block["type"] for block in blocks]
    assert kinds == ["markdown", "task_card", "markdown", "divider"]
    card = blocks[1]
    assert (card["task_id"], card["title"], card["status"]) == ("1", "Searched", "complete")
    assert card["details"]["elements"][0]["elements"][0]["text"] == "ab"
    assert card["output"]["elements"][0]["elements"][0]["text"] == "c"


async def test_a_plan_gathers_its_tasks_in_one_block(driver: Driver) -> None:
    chunks = [
        PlanUpdateChunk(title="Refund"),
        TaskUpdateChunk(id="1", title="Look up", status="complete"),
        MarkdownTextChunk(text="Done soon."),
        TaskUpdateChunk(id="2", title="Pay", status="pending"),
    ]
    thread, ts = await begin(driver, "D0BOB", chunks=chunks, task_display_mode="plan")
    (plan, text) = (await driver.messages("D0BOB", thread))[1]["blocks"]
    assert (plan["type"], plan["title"], text["type"]) == ("plan", "Refund", "markdown")
    assert [task["task_id"] for task in plan["tasks"]] == ["1", "2"]
    await driver.slack.chat_stopStream(channel="D0BOB", ts=ts)


async def test_the_sdks_own_helper_streams(driver: Driver) -> None:
    parent = await driver.slack.chat_postMessage(channel="C0OPS", text="asked")
    stream = await driver.slack.chat_stream(
        channel="C0OPS", thread_ts=parent["ts"], buffer_size=4, **RECIPIENT
    )
    await stream.append(markdown_text="hello ")
    await stream.append(markdown_text="wor")
    await stream.append(markdown_text="ld")
    stopped = await stream.stop(session_status="suspended")
    assert stopped["message"]["text"] == "hello world"
    session = await driver.get(f"/sandbox/channels/C0OPS/session?thread_ts={parent['ts']}")
    assert session["session"]["status"] == "suspended"


async def test_text_and_chunks_do_not_mix(driver: Driver) -> None:
    slack = driver.slack
    chunks = [{"type": "markdown_text", "text": "x"}]
    _, ts = await begin(driver, markdown_text="x")
    append = slack.chat_appendStream
    both = append(channel="C0OPS", ts=ts, markdown_text="x", chunks=chunks)
    assert await error_of(both) == "cannot_provide_both_markdown_text_and_chunks"
    assert await error_of(append(channel="C0OPS", ts=ts)) == "markdown_text_or_chunks_required"
    other = append(channel="C0OPS", ts=ts, chunks=chunks)
    assert await error_of(other) == "streaming_mode_mismatch"
    stop = slack.chat_stopStream(channel="C0OPS", ts=ts, chunks=chunks)
    assert await error_of(stop) == "streaming_mode_mismatch"
    await slack.chat_stopStream(channel="C0OPS", ts=ts, markdown_text="y")


WRONG_CHUNKS: list[tuple[Any, str]] = [
    ("nonsense", "invalid_chunks"),
    ([{"type": "song"}], "invalid_chunks"),
    ([{"type": "task_update", "id": "1"}], "invalid_chunks"),
    ([{"type": "task_update", "id": "1", "title": "t", "status": "late"}], "invalid_chunks"),
    ([{"type": "blocks", "blocks": [{"type": "alert"}]}], "invalid_blocks"),
    ([{"type": "blocks", "blocks": [{"type": "divider"}] * 51}], "msg_blocks_too_many"),
    ([{"type": "markdown_text", "text": "x" * 12_001}], "msg_too_long"),
]


@pytest.mark.parametrize(("chunks", "error"), WRONG_CHUNKS)
async def test_wrong_chunks(driver: Driver, chunks: Any, error: str) -> None:
    _, ts = await begin(driver, chunks=[{"type": "markdown_text", "text": "x"}])
    body = {"channel": "C0OPS", "ts": ts, "chunks": chunks}
    assert await error_of(driver.slack.api_call("chat.appendStream", json=body)) == error


async def test_who_receives_a_stream_in_a_channel_must_be_said(driver: Driver) -> None:
    start = driver.slack.chat_startStream
    parent = await driver.slack.chat_postMessage(channel="C0OPS", text="asked")
    place: dict[str, Any] = {"channel": "C0OPS", "thread_ts": parent["ts"]}
    assert await error_of(start(**place)) == "missing_recipient_user_id"
    only_user = start(**place, recipient_user_id="U0BOB")
    assert await error_of(only_user) == "missing_recipient_team_id"
    stranger = start(**place, recipient_user_id="U0NONE", recipient_team_id="T0PILOT")
    assert await error_of(stranger) == "user_not_found"
    nowhere = start(channel="C0OPS", thread_ts="1.1", **RECIPIENT)
    assert await error_of(nowhere) == "invalid_thread_ts"
    top_level = await driver.slack.api_call(
        "chat.startStream", json={"channel": "C0OPS", "markdown_text": "x", **RECIPIENT}
    )
    assert "thread_ts" not in (await driver.messages("C0OPS"))[-1]
    await driver.slack.chat_stopStream(channel="C0OPS", ts=top_level["ts"])
    in_direct_message = driver.slack.api_call("chat.startStream", json={"channel": "D0BOB"})
    assert await error_of(in_direct_message) == "invalid_thread_ts"


async def test_a_stream_ends_after_five_minutes_and_can_then_be_edited() -> None:
    async with driving(clock=MOMENT) as driver:
        slack = driver.slack
        thread, ts = await begin(driver, markdown_text="x")
        place: dict[str, Any] = {"channel": "C0OPS", "ts": ts}
        assert await error_of(slack.chat_update(**place, text="y")) == "streaming_state_conflict"
        driver.sandbox.clock.forward(299)
        await slack.chat_appendStream(**place, markdown_text="y")
        driver.sandbox.clock.forward(2)
        late = slack.chat_appendStream(**place, markdown_text="z")
        assert await error_of(late) == "message_not_in_streaming_state"
        assert await error_of(slack.chat_stopStream(**place)) == "message_not_in_streaming_state"
        assert (await driver.messages("C0OPS", thread))[1]["streaming_state"] == "errored"
        await slack.chat_update(**place, text="the whole answer")
        edited = (await driver.messages("C0OPS", thread))[1]
        assert (edited["text"], edited.get("streaming_state")) == ("the whole answer", None)


async def test_appending_keeps_a_stream_alive_where_that_is_the_guess() -> None:
    async with driving(clock=MOMENT, guesses=Guesses(stream_ends="idle")) as driver:
        _, ts = await begin(driver, markdown_text="x")
        for _ in range(3):
            driver.sandbox.clock.forward(299)
            await driver.slack.chat_appendStream(channel="C0OPS", ts=ts, markdown_text="y")
        driver.sandbox.clock.forward(301)
        late = driver.slack.chat_stopStream(channel="C0OPS", ts=ts)
        assert await error_of(late) == "message_not_in_streaming_state"


async def test_a_streamed_message_holds_so_many_bytes_in_all(driver: Driver) -> None:
    slack = driver.slack
    _, ts = await begin(driver, markdown_text="x" * 10_600)
    place: dict[str, Any] = {"channel": "C0OPS", "ts": ts}
    assert await error_of(slack.chat_appendStream(**place, markdown_text="x")) == "msg_too_long"
    assert await error_of(slack.chat_stopStream(**place, markdown_text="x")) == "msg_too_long"
    assert len((await slack.chat_stopStream(**place))["message"]["text"]) == 10_600
    tasks = [TaskUpdateChunk(id="1", title="t" * 100, status="complete", details="ä" * 2700)]
    _, ts = await begin(driver, chunks=tasks)
    text: dict[str, Any] = {"ts": ts, "chunks": [MarkdownTextChunk(text="x")]}
    assert await error_of(slack.chat_appendStream(channel="C0OPS", **text)) == "msg_too_long"


async def test_a_person_stops_it(driver: Driver) -> None:
    slack = driver.slack
    thread, ts = await begin(driver, markdown_text="x")
    await begin(driver, "D0BOB", markdown_text="goes on")
    channel = driver.sandbox.workspace.channel("C0OPS")
    assert driver.sandbox.streams.stop_by_person(channel, thread) == [ts]
    place: dict[str, Any] = {"channel": "C0OPS", "ts": ts}
    late = slack.chat_appendStream(**place, markdown_text="y")
    assert await error_of(late) == "stopped_by_user"
    assert (await slack.chat_stopStream(**place))["message"]["text"] == "x"


async def test_what_is_no_stream_of_the_apps(driver: Driver) -> None:
    posted = await driver.slack.chat_postMessage(channel="C0OPS", text="plain")
    append = driver.slack.chat_appendStream
    for ts, error in [
        ("1.1", "message_not_found"),
        (driver.said("U0BOB", "C0OPS"), "message_not_owned_by_app"),
        (posted["ts"], "message_not_in_streaming_state"),
    ]:
        assert await error_of(append(channel="C0OPS", ts=ts, markdown_text="x")) == error


async def test_a_deleted_stream_is_gone(driver: Driver) -> None:
    _, ts = await begin(driver, markdown_text="x")
    await driver.slack.chat_delete(channel="C0OPS", ts=ts)
    append = driver.slack.chat_appendStream(channel="C0OPS", ts=ts, markdown_text="x")
    assert await error_of(append) == "message_not_found"
