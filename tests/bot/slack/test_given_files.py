"""Files that are shared with a request."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from slack_sdk.web.async_client import AsyncWebClient

from agent.rules.parts import GivenFile
from bot.sandbox.guesses import Guesses
from bot.sandbox.tokens import BOT_SCOPES
from bot.sandbox.workspace import BOT_TOKEN
from bot.slack import hearing
from bot.slack.conversation.following import follow
from bot.slack.given import reading
from bot.slack.given.fetching import fetch
from bot.slack.given.readable import GONE, NOT_LET, NOT_NOW
from bot.slack.given.reading import given_files
from bot.slack.given.shared import SharedFile, shared_files
from bot.slack.messages import Message
from bot.slack.payloads import Actor
from tests.bot.slack.workspace import Bot

MENTION = "<@U0PILOT> "
CSV: dict[str, Any] = {"name": "orders.csv", "content": "order,amount\nORD-3300,180\n"}
PNG: dict[str, Any] = {"name": "a.png", "content_base64": base64.b64encode(b"\x89PNG\0").decode()}
ORDERS = GivenFile(name="orders.csv", text=CSV["content"], size=26)


async def share(bot: Bot, text: str, *files: dict[str, Any], channel: str = "D0ALICE") -> None:
    said = await bot.act("U0ALICE", "message", channel=channel, text=text, files=list(files))
    assert said["acknowledged"]


async def said_directly(bot: Bot, part: str) -> list[str]:
    await bot.services.answering.wait(5)
    posted = [one["arguments"]["text"] for one in bot.sandbox.calls("chat.postMessage")]
    return [one for one in posted if part in one]


async def given(bot: Bot) -> tuple[GivenFile, ...]:
    (state,) = await bot.runs()
    assert state.prompt == "refund these"
    return state.files


@pytest.mark.parametrize("channel", ["C0SUPPORT", "D0ALICE"])
async def test_text_is_given_to_the_agent_and_of_the_rest_both_are_told(
    bot: Bot, channel: str
) -> None:
    await share(bot, f"{MENTION}refund these", CSV, PNG, channel=channel)
    text, picture = await given(bot)
    assert text == ORDERS
    assert (picture.name, picture.text) == ("a.png", None)
    words = f"“a.png” was not read: {picture.why_not}."
    assert "only text is read" in words
    if channel == "C0SUPPORT":
        assert await bot.whispered("U0ALICE", "was not read") == words
    else:
        assert await said_directly(bot, "was not read") == [words]


async def test_of_files_beside_a_first_message_they_are_told_in_the_thread_that_it_opens(
    drawn: Bot,
) -> None:
    await share(drawn, f"{MENTION}refund these", PNG, channel="C0SUPPORT")
    await drawn.whispered("U0ALICE", "was not read")
    (told,) = drawn.sandbox.ephemerals("U0ALICE")
    (state,) = await drawn.runs()
    root = str(state.ref).rpartition(":")[2]
    assert told.get("thread_ts") == root
    assert len(drawn.sandbox.messages("C0SUPPORT", root)) > 1, (
        "Slack shows it only where there is one"
    )


@pytest.mark.sandbox(guesses=Guesses(files_in_mentions=False))
async def test_a_mention_that_does_not_tell_of_its_files_is_read_again(bot: Bot) -> None:
    await share(bot, f"{MENTION}refund these", CSV, channel="C0SUPPORT")
    assert await given(bot) == (ORDERS,)
    await bot.say("U0ALICE", f"{MENTION}refund ORD-1 1", "C0SUPPORT")
    assert len(bot.sandbox.calls("conversations.replies")) == 1, "that had none"


@pytest.mark.sandbox(guesses=Guesses(files_in_mentions=False))
async def test_where_slack_does_not_show_whether_there_are_files_both_are_told(bot: Bot) -> None:
    bot.sandbox.faults.add(method="conversations.replies", ratelimited=True, retry_after=30)
    await share(bot, f"{MENTION}refund these", CSV, channel="C0SUPPORT")
    (unseen,) = await given(bot)
    assert (unseen.text, unseen.why_not) == (None, NOT_NOW)
    await bot.whispered("U0ALICE", "“whatever is shared with this message” was not read")
    await share(bot, f"{MENTION}refund these", CSV, channel="C0SUPPORT")
    assert len(bot.sandbox.calls("conversations.replies")) == 1, "it is let be as long as it says"


async def test_a_message_that_is_delivered_again_is_told_of_once(
    bot: Bot,
) -> None:
    await share(bot, "refund these", PNG, channel="D0ALICE")
    inside = bot.sandbox.inside
    (said,) = [one for one in bot.sandbox.messages("D0ALICE") if one.get("files")]
    channel = inside.workspace.channels["D0ALICE"]
    again = inside.events.message(channel, inside.messages.read("D0ALICE", said["ts"]))
    assert (await inside.outbox.publish_and_wait([again, again])).reply.acknowledged
    assert len(await bot.runs()) == 1
    assert len(await said_directly(bot, "was not read")) == 1


async def test_an_app_that_may_not_read_files_starts_without_and_says_so(bot: Bot) -> None:
    bot.sandbox.inside.tokens.add(BOT_TOKEN, set(BOT_SCOPES) - {"files:read"})
    await share(bot, f"{MENTION}refund these", CSV, channel="C0SUPPORT")
    (file,) = await given(bot)
    assert file.text is None
    assert "files:read" in await bot.whispered("U0ALICE", "“orders.csv” was not read")


async def test_a_file_of_another_workspace_is_looked_up(bot: Bot) -> None:
    said = await bot.act("U0DAVE", "message", channel="C0SHARED", text="these", files=[CSV])
    shared = shared_files(bot.sandbox.inside.messages.read("C0SHARED", said["ts"]))
    assert shared[0].is_to_be_looked_up
    actor = Actor("U0ALICE", "T0PILOT")
    message = Message(actor, "T0PILOT", "C0SHARED", said["ts"], None, "x", False, files=shared)
    assert await given_files(bot.services, message) == (ORDERS,)
    for error, why_not in (
        ("file_not_found", GONE),
        ("missing_scope", NOT_LET),
        ("internal_error", NOT_NOW),
    ):
        bot.sandbox.faults.add(method="files.info", error=error)
        (file,) = await given_files(bot.services, message)
        assert (file.text, file.why_not) == (None, why_not)
    bot.sandbox.faults.add(method="files.info", ratelimited=True, retry_after=30)
    for _ in range(2):
        assert [one.why_not for one in await given_files(bot.services, message)] == [NOT_NOW]
    assert len(bot.sandbox.calls("files.info")) == 5, "it is let be as long as it says"


async def test_what_was_read_for_a_run_that_ended_meanwhile_goes_to_the_next_one(bot: Bot) -> None:
    said = await bot.act("U0DAVE", "message", channel="C0SHARED", text="these", files=[CSV])
    shared = shared_files(bot.sandbox.inside.messages.read("C0SHARED", said["ts"]))
    root = await bot.say("U0ALICE", f"{MENTION}refund ORD-3300 180", "C0SHARED")
    _, active = await bot.waiting_run()
    await bot.runtime.stop(active.run_id, active.requester)
    await bot.ended_run(active.run_id)
    actor, ts = Actor("U0ALICE", "T0PILOT"), f"{float(root['ts']) + 60:.6f}"
    message = Message(actor, "T0PILOT", "C0SHARED", ts, root["ts"], "x", False, files=shared)
    await follow(bot.services, message, "refund these", active, "")
    new = next(one for one in await bot.runs() if one.run_id != active.run_id)
    assert new.files == (ORDERS,)
    assert len(bot.sandbox.calls("files.info")) == 1


async def test_what_can_not_be_read_in_time_is_left_out(
    bot: Bot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "WITHIN", 0.0)
    await share(bot, "refund these", CSV)
    (file,) = await given(bot)
    assert file.why_not == "it could not be read in time"


async def test_words_that_are_edited_while_a_file_is_read_count_as_they_are_then(
    bot: Bot, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = bot.sandbox.inside.messages

    async def read_slowly(client: AsyncWebClient, file: SharedFile) -> bytes:
        message = there.top_level("D0ALICE")[-1]
        match message["text"]:
            case "gone":
                there.remove("D0ALICE", message["ts"])
            case "refund half":
                there.change("D0ALICE", message["ts"], text="stop")
            case _:
                there.change("D0ALICE", message["ts"], text="refund these")
        return await fetch(client, file)

    monkeypatch.setattr(hearing, "SLOW", -1.0)
    monkeypatch.setattr("bot.slack.given.reading.fetch", read_slowly)
    for words in ("gone", "refund half", "refund all"):
        await share(bot, words, CSV)
    assert await given(bot) == (ORDERS,)
    assert await said_directly(bot, "") == []


async def test_files_without_words_start_nothing_and_are_asked_about(bot: Bot) -> None:
    await share(bot, MENTION, CSV, channel="C0SUPPORT")
    await bot.whispered("U0ALICE", "what should I do with “orders.csv”?")
    await share(bot, "", CSV, PNG)
    assert len(await said_directly(bot, "these 2 files")) == 1
    assert await bot.runs() == []


async def test_files_in_a_runs_thread_go_with_the_words_that_steer_it(bot: Bot) -> None:
    said = await bot.say("U0ALICE", f"{MENTION}refund ORD-3300 180", "C0SUPPORT")
    await bot.waiting_run()
    thread = {"channel": "C0SUPPORT", "thread_ts": said["ts"]}
    await bot.act("U0ALICE", "message", **thread, text="these too", files=[CSV, PNG])
    told = await bot.whispered("U0ALICE", "“a.png” was not read")
    assert "orders.csv" not in told
    (state,) = await bot.runs()
    (message,) = state.said
    assert (message.text, message.files[0]) == ("these too", ORDERS)
    await bot.act("U0ALICE", "message", **thread, text="", files=[CSV])
    await bot.whispered("U0ALICE", "what should I do with “orders.csv”?")
    # Whoever may not steer talks to others there.
    await bot.act("U0CAROL", "message", **thread, text="", files=[CSV])
    await bot.services.answering.wait(5)
    assert bot.whispers("U0CAROL") == []
    assert len((await bot.runs())[0].said) == 1
