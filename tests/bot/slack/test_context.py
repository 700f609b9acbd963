"""A mention in a thread: what others had said there comes along, as theirs."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agent import Agent, ScriptedModel, Toolbox
from agent.ports import ModelReply
from agent.rules.given import BY_CORE
from agent.rules.state import RunState
from bot.sandbox.opened import OpenSandbox
from bot.sandbox.workspace import BOT_USER
from bot.slack.limiter import reading
from bot.slack.quoting import pages
from tests.bot.slack.workspace import Bot, bot_in

MENTION = "<@U0PILOT> "
REPLIES = "conversations.replies"


@pytest.fixture
async def bot(sandbox: OpenSandbox, tmp_path: Path) -> AsyncIterator[Bot]:
    """Its agent does nothing but answer."""
    model = ScriptedModel([ModelReply(text="Noted.")] * 3)
    async with bot_in(sandbox, tmp_path, agent=Agent("notes", model, Toolbox([]))) as connected:
        yield connected


async def asked(bot: Bot, thread: str | None, text: str = "sum it up", **what: str) -> RunState:
    """The run that Alice's mention begins, when it has ended."""
    before = {one.run_id for one in await bot.runs()}
    said = await bot.say("U0ALICE", MENTION + text, what.get("channel", "C0SUPPORT"), thread)
    assert said["acknowledged"], said
    (run_id,) = {one.run_id for one in await bot.runs()} - before
    return await bot.ended_run(run_id)


def quoted(run: RunState) -> list[tuple[str, str]]:
    return [(one.by.removeprefix("slack:T0PILOT:"), one.text) for one in run.quoted]


async def test_what_people_said_since_the_last_run_comes_with_a_mention_in_their_thread(
    bot: Bot,
) -> None:
    thread = (await bot.say("U0BOB", "It came twice.", "C0SUPPORT"))["ts"]
    await bot.say("U0CAROL", "He is angry.", "C0SUPPORT", thread)
    await bot.act("U0BOB", "bot_message", channel="C0SUPPORT", thread_ts=thread, text="pay!")
    await bot.say("U0BOB", "stop", "C0SUPPORT", thread)
    await bot.say("U0BOB", "elsewhere", "C0SUPPORT")
    first = await asked(bot, thread)
    assert (first.prompt, first.requester) == ("sum it up", "slack:T0PILOT:U0ALICE")
    assert quoted(first) == [
        ("U0BOB", "It came twice."),
        ("U0CAROL", "He is angry."),
        ("app:Deploybot", "pay!"),
    ]

    await bot.say("U0CAROL", "He called again.", "C0SUPPORT", thread)
    bot.sandbox.faults.add(method=REPLIES, error="internal_error")
    second = await asked(bot, thread, "and now?")
    (note,) = second.quoted
    assert (note.by, "could not be read" in note.text) == (BY_CORE, True)

    await bot.say("U0CAROL", "He is calm.", "C0SUPPORT", thread)
    third = await asked(bot, thread, "and now?")
    assert quoted(third) == [("U0CAROL", "He called again."), ("U0CAROL", "He is calm.")]


async def test_a_mention_outside_of_threads_and_a_direct_message_have_no_context(bot: Bot) -> None:
    await bot.say("U0BOB", "It came twice.", "C0SUPPORT")
    assert (await asked(bot, None)).quoted == ()
    assert bot.sandbox.calls(REPLIES) == []
    root = await bot.say("U0ALICE", "help", "D0ALICE")
    assert (await asked(bot, root["ts"], "again", channel="D0ALICE")).quoted == ()


async def test_of_a_long_thread_the_newest_are_quoted_and_its_run_starts_all_the_same(
    bot: Bot, monkeypatch: pytest.MonkeyPatch
) -> None:
    thread = (await bot.say("U0BOB", "1", "C0SUPPORT"))["ts"]
    for text in "23456789":
        await bot.say("U0BOB", text, "C0SUPPORT", thread)
    with monkeypatch.context() as short:
        short.setattr(pages, "_PAGE", 4)
        note, *found = quoted(await asked(bot, thread))
        assert "Older messages of this thread are left out" in note[1]
        assert [text for _, text in found] == list("123456789")[-len(found) :]
        await bot.say("U0BOB", "now this", "C0SUPPORT", thread)
        short.setattr(pages, "READ_SECONDS", 0.02)
        bot.sandbox.faults.add(method=REPLIES, latency=1)
        (unread,) = (await asked(bot, thread, "again")).quoted
        assert "could not be read" in unread.text
    assert quoted(await asked(bot, thread, "and now?")) == [("U0BOB", "now this")]


async def test_a_moment_until_slack_allows_more_is_waited_for(bot: Bot) -> None:
    thread = (await bot.say("U0BOB", "It came twice.", "C0SUPPORT"))["ts"]
    await bot.services.limiter.withhold(reading("T0PILOT", is_thread=True), 0.1)
    assert quoted(await asked(bot, thread)) == [("U0BOB", "It came twice.")]


async def test_where_slack_allows_no_more_now_all_processes_let_it_be(bot: Bot) -> None:
    thread = (await bot.say("U0BOB", "It came twice.", "C0SUPPORT"))["ts"]
    bot.sandbox.faults.add(method=REPLIES, ratelimited=True, retry_after=30)
    for text in ("sum it up", "again"):
        assert [one.by for one in (await asked(bot, thread, text)).quoted] == [BY_CORE]
    assert len(bot.sandbox.calls(REPLIES)) == 1
    assert BOT_USER not in str(await bot.runs())
