"""What is said in the thread of words that began no run is answered or acknowledged at once: no run is coming."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.sandbox.opened import OpenSandbox
from bot.slack.roots.known import KnownRoots
from tests.bot.slack.agents import asking
from tests.bot.slack.talking import MENTION
from tests.bot.slack.workspace import Bot, bot_in, drawing

DIRECT = "D0ALICE"


@pytest.fixture
async def bot(sandbox: OpenSandbox, tmp_path: Path) -> AsyncIterator[Bot]:
    async with bot_in(sandbox, tmp_path, agent=asking("$20")) as connected, drawing(connected):
        yield connected


@pytest.mark.sandbox(allow_violations=True)
async def test_a_reply_below_which_is_meant_is_heard_at_once(bot: Bot) -> None:
    """The bot's own question stands there: that is where people answer it."""
    await bot.say("U0ALICE", "refund ORD-3300", DIRECT)
    await bot.waiting_run()
    await bot.sandbox.until(
        lambda: [one for one in bot.sandbox.messages(DIRECT) if one.get("reply_count", 0) >= 2],
        "the question",
    )
    which = await bot.say("U0ALICE", "$20", DIRECT)
    await bot.services.answering.drain(5)
    reply = await bot.say("U0ALICE", "yes, that is my answer", DIRECT, which["ts"])
    assert reply["acknowledged"], reply
    await bot.services.answering.drain(5)
    # They are asked once more, and told where: it is no new request either.
    posted = [one["arguments"] for one in bot.sandbox.calls("chat.postMessage")]
    told = [one for one in posted if one["text"].startswith("Nothing was answered and nothing")]
    assert [one["thread_ts"] for one in told] == [which["ts"]] * 2
    assert all("|its thread>, not here." in one["text"] for one in told)
    (state,) = await bot.runs()
    assert [one.status for one in state.approvals.values()] == ["pending"]
    # Naming us it is one.
    named = await bot.say("U0ALICE", f"{MENTION}refund ORD-3301", DIRECT, which["ts"])
    assert named["acknowledged"], named
    assert len(await bot.runs()) == 2


@pytest.mark.parametrize("below", ["the reply", "stop", "stop, outside of the thread"])
async def test_what_another_process_has_heard_is_told_by_what_stands_below_it(
    bot: Bot, below: str
) -> None:
    await bot.say("U0ALICE", "refund ORD-3300", DIRECT)
    await bot.waiting_run()
    await bot.sandbox.until(
        lambda: [one for one in bot.sandbox.messages(DIRECT) if one.get("reply_count", 0) >= 2],
        "the question",
    )
    which = await bot.say("U0ALICE", "$20", DIRECT)
    await bot.services.answering.drain(5)
    # What this process remembers no other one knows.
    vars(bot.services.roots).update(vars(KnownRoots()))
    thread = None if "outside" in below else which["ts"]
    reply = await bot.say("U0ALICE", below.partition(",")[0], DIRECT, thread)
    assert reply["acknowledged"], reply
    assert len(await bot.runs()) == 1
