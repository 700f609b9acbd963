"""``stop`` and ``pause`` right behind words in a direct message that began no run: they are done at once."""

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
@pytest.mark.parametrize(
    "began_nothing",
    [
        "$20",  # They are asked which is meant: the answer, or something new.
        "x" * 40_001,  # They are told that it is too long.
    ],
    ids=["which is meant", "too long"],
)
async def test_stop_behind_what_began_nothing_is_done_at_once(bot: Bot, began_nothing: str) -> None:
    await bot.say("U0ALICE", "refund ORD-3300", DIRECT)
    await bot.waiting_run()
    await bot.sandbox.until(
        lambda: [one for one in bot.sandbox.messages(DIRECT) if one.get("reply_count", 0) >= 2],
        "the question",
    )
    said = await bot.say("U0ALICE", began_nothing, DIRECT)
    assert said["acknowledged"]
    await bot.services.answering.drain(5)
    assert len(await bot.runs()) == 1
    stop = await bot.say("U0ALICE", "stop", DIRECT)
    assert stop["acknowledged"], stop
    (state,) = await bot.runs()
    assert state.stop is not None
