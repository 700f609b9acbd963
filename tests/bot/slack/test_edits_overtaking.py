"""Two edits of one message that come the wrong way round: the agent hears the words that stand in Slack."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from agent.rules.decisions import Decider, Deny
from agent.rules.ids import Principal
from bot.slack.answering import Answer
from bot.slack.conversation.changing import change
from bot.slack.messages import Change
from tests.bot.slack.talking import begun, message_at, said, say, the_run
from tests.bot.slack.workspace import Bot

OPERATOR = Principal("cli:ops")


async def test_an_edit_that_comes_behind_a_newer_one_does_not_bring_old_words_back(
    bot: Bot,
) -> None:
    thread = await begun(bot)
    ts = await say(bot, "U0ALICE", "only 10", thread)
    bot.sandbox.faults.add(method="message", delay=1.0, contains="only 20")
    where = {"channel": "C0SUPPORT", "ts": ts}
    older = asyncio.create_task(bot.act("U0ALICE", "edit", **where, text="only 20"))
    shown = bot.sandbox.inside.messages
    await bot.sandbox.until(lambda: shown.read("C0SUPPORT", ts)["text"] == "only 20", "the edit")
    await bot.act("U0ALICE", "edit", **where, text="only 30")
    await older
    await bot.services.answering.drain(5)
    assert shown.read("C0SUPPORT", ts)["text"] == "only 30"
    assert await said(bot) == ["only 30"]


async def test_whoever_has_heard_the_newer_words_is_told_nothing_of_the_older(bot: Bot) -> None:
    """That the agent has read it is told of the newest edit alone."""
    thread = await begun(bot)
    ts = await say(bot, "U0ALICE", "only 10", thread)
    message = await message_at(bot, ts)
    first, older, newer, last = (f"{float(ts) + n:.6f}" for n in (0.1, 0.2, 0.3, 0.4))
    edits = {
        at: Change(replace(message, raw=raw, edited_ts=at), False, message, at=message.said_at)
        for at, raw in ((first, "1"), (older, "only 20"), (newer, "only 30"), (last, "only 40"))
    }
    assert await change(bot.services, edits[newer]) == Answer()
    (approval,) = (await the_run(bot)).open_approvals
    await bot.runtime.decide(approval.id, Deny(), Decider(OPERATOR, authority="operator"))
    await bot.ended_run((await the_run(bot)).run_id)
    told = [await change(bot.services, edits[at]) for at in (first, older, newer)]
    assert told == [Answer()] * 3
    assert (await change(bot.services, edits[last])).text.startswith("Nothing was changed")
    assert await said(bot) == ["only 30"]
