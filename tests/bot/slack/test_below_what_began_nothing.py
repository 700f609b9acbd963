"""What is said in the thread of words that began no run is answered or acknowledged at once: no run is coming."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.sandbox.opened import OpenSandbox
from tests.bot.slack.agents import asking
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
