"""People greet each other in many threads of a channel: what they say is acknowledged, whatever Slack lets us read."""

from __future__ import annotations

import asyncio

import pytest

from tests.bot.slack.talking import MENTION
from tests.bot.slack.workspace import Bot

#: More than the threads that Slack lets us look into in a minute.
THREADS = 60


@pytest.mark.sandbox(allow_violations=True)
async def test_the_first_replies_in_many_threads_are_acknowledged(bot: Bot) -> None:
    roots = [
        str((await bot.say("U0ALICE", f"good morning {n}", "C0SUPPORT"))["ts"])
        for n in range(THREADS)
    ]
    replies = [bot.say("U0BOB", "to you, too", "C0SUPPORT", root) for root in roots]
    said = await asyncio.gather(*replies)
    assert [one["acknowledged"] for one in said].count(True) == THREADS
    looks = len(bot.sandbox.calls("conversations.replies"))
    # Of the fifty of a minute a few, and that in however many threads it was.
    assert 1 <= looks <= 14
    # Whoever speaks to us in one of them is heard, with what was said there.
    asked = await bot.say("U0ALICE", f"{MENTION}refund ORD-3300 180", "C0SUPPORT", roots[-1])
    assert asked["acknowledged"]
    _, state = await bot.waiting_run()
    assert [one.text for one in state.quoted] == [f"good morning {THREADS - 1}", "to you, too"]
