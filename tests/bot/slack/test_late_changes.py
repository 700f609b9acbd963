"""Edits and deletions that meet their message, or the run that has it, at an awkward moment."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from agent.rules.ids import Principal
from bot.slack.answering import Answer
from bot.slack.conversation import beginning
from bot.slack.conversation.changing import change, change_when_there
from bot.slack.messages import Change, Message
from bot.slack.payloads import Actor
from bot.slack.wishes import answer_message
from tests.bot.slack.talking import MENTION, begun, message_at, said, say, the_run
from tests.bot.slack.workspace import Bot


@pytest.fixture
async def thread(bot: Bot) -> str:
    """Of a run that waits for finance to decide a refund."""
    return await begun(bot)


async def test_an_edit_waits_a_moment_for_its_message_to_be_taken(bot: Bot, thread: str) -> None:
    ts = await say(bot, "U0CAROL", "only half", thread)
    message = replace(await message_at(bot, ts), actor=Actor("U0BOB", "T0PILOT"), raw="a third")
    changing = asyncio.create_task(change_when_there(bot.services, Change(message, False)))
    assert await asyncio.wait([changing], timeout=0.2) == (set(), {changing})
    await answer_message(bot.services, replace(message, raw="only half"))
    assert await changing == Answer()
    assert await said(bot) == ["a third"]


@pytest.mark.parametrize("channel", ["C0SUPPORT", "D0ALICE"])
async def test_a_request_that_is_edited_into_stop_before_it_is_heard_stops_what_it_began_or_nothing(
    bot: Bot, monkeypatch: pytest.MonkeyPatch, channel: str
) -> None:
    mention = MENTION if channel == "C0SUPPORT" else ""
    other = str((await bot.say("U0ALICE", f"{mention}refund ORD-3300 180", channel))["ts"])
    await bot.waiting_run()
    # Said just now, however long a busy machine takes: what is late is read back, and is not there in Slack.
    actor, ts = Actor("U0ALICE", "T0PILOT"), f"{float(other) + 30:.6f}"
    was = Message(actor, "T0PILOT", channel, ts, None, f"{mention}refund ORD-3301 180", not mention)
    edited_ts = f"{float(ts) + 0.1:.6f}"
    edit = Change(replace(was, raw=f"{mention}stop", edited_ts=edited_ts), False, was)
    changing = asyncio.create_task(change_when_there(bot.services, edit))
    assert await asyncio.wait([changing], timeout=0.2) == (set(), {changing})
    await answer_message(bot.services, was)
    assert (await changing).text.startswith("Stopped: ")

    async def stopped() -> list[bool]:
        """The first one, then the one that was edited: what it says by then depends on which came first."""
        runs = await bot.runs()
        return [one.stop is not None for one in sorted(runs, key=lambda one: one.started_at)]

    assert await stopped() == [False, True]
    # What has not come by then begins nothing any more.
    monkeypatch.setattr(beginning, "TOGETHER", timedelta(minutes=-1))
    unheard = replace(edit, message=replace(edit.message, ts=f"{float(ts) + 1:.6f}"))
    told = await change_when_there(bot.services, unheard)
    assert told.text == (
        "Nothing was done: what you had asked for here has begun no run. If you mean another, write `stop` in its"
        " thread."
    )
    assert await stopped() == [False, True]


async def test_who_changed_a_message_while_its_run_went_on_is_told_also_when_it_is_over(
    bot: Bot, thread: str
) -> None:
    actor = Actor("U0ALICE", "T0PILOT")
    message = Message(actor, "T0PILOT", "C0SUPPORT", thread, None, "refund ORD-3300 180", False)
    run_id = (await the_run(bot)).run_id
    await bot.runtime.stop(run_id, Principal("slack:T0PILOT:U0ALICE"))
    ended_at = (await bot.ended_run(run_id)).ended_at
    assert ended_at is not None
    moment = timedelta(milliseconds=1)
    meanwhile = await change(bot.services, Change(message, True, at=ended_at - moment))
    assert meanwhile.text.startswith("Nothing was changed")
    assert await change(bot.services, Change(message, True, at=ended_at)) == Answer()
