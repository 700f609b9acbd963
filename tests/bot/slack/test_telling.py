"""What people are told privately stays within what Slack allows all processes together."""

from __future__ import annotations

import logging
import sqlite3
import time
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from bot.sandbox.opened import OpenSandbox
from bot.slack.limiter import Action, Limiter, posting, whispering
from bot.slack.thread.desired import Priority
from tests.bot.slack.workspace import Bot, bot_in, nobody_else_writes

TEAM = "T0PILOT"
WHISPER = whispering(TEAM)
DIRECTLY = posting(TEAM, "D0ALICE")


async def ask_for_help(bot: Bot, channel: str = "C0SUPPORT") -> None:
    said = await bot.say("U0ALICE", "<@U0PILOT> help", channel)
    assert said["acknowledged"]


def limiter_of(bot: Bot) -> Limiter:
    """As another process has it."""
    return Limiter(bot.store.allowances, time.monotonic)


@pytest.mark.parametrize(("channel", "action"), [("C0SUPPORT", WHISPER), ("D0ALICE", DIRECTLY)])
async def test_an_answer_takes_from_what_all_share(
    bot: Bot, tmp_path: Path, channel: str, action: Action
) -> None:
    await ask_for_help(bot, channel)
    await bot.services.answering.drain(5)
    with closing(sqlite3.connect(tmp_path / "pilothouse.db")) as database:
        taken = database.execute("SELECT allowance_key FROM allowances").fetchall()
    assert {key for (key,) in taken} == set(action.keys)


async def test_an_answer_waits_for_its_turn_and_its_acknowledgement_does_not(bot: Bot) -> None:
    began = time.monotonic()
    await limiter_of(bot).withhold(WHISPER, 3)
    await ask_for_help(bot)
    assert bot.whispers("U0ALICE") == []
    await bot.whispered("U0ALICE", "Ask")
    assert time.monotonic() - began >= 3


async def test_what_slack_refuses_as_too_much_every_process_lets_be_and_it_is_told_then(
    bot: Bot,
) -> None:
    bot.sandbox.faults.add(method="chat.postEphemeral", ratelimited=True, retry_after=1)
    await ask_for_help(bot)
    await bot.sandbox.until(lambda: bot.sandbox.calls("chat.postEphemeral"), "it was refused")

    async def is_withheld() -> bool:
        return await limiter_of(bot).take(WHISPER, Priority.APPROVAL) > 0

    await bot.sandbox.until(is_withheld, "others know")
    await bot.whispered("U0ALICE", "Ask")
    assert len(bot.sandbox.calls("chat.postEphemeral")) == 2


@pytest.mark.parametrize(
    "fault",
    [{"status": 503}, {"error": "internal_error"}, {"drop_after_commit": True}],
    ids=["away", "in trouble", "answer lost"],
)
@pytest.mark.parametrize(
    ("channel", "method"), [("C0SUPPORT", "chat.postEphemeral"), ("D0ALICE", "chat.postMessage")]
)
async def test_while_slack_is_away_for_a_moment_an_answer_is_tried_again(
    bot: Bot, channel: str, method: str, fault: dict[str, Any]
) -> None:
    bot.sandbox.faults.add(method=method, **fault)
    await ask_for_help(bot, channel)
    await bot.services.answering.drain(5)
    _, again = bot.sandbox.calls(method)
    assert again["ok"]
    assert "Ask" in again["arguments"]["text"]


async def test_nobody_is_told_what_would_come_too_late_to_be_of_use(
    bot: Bot, caplog: pytest.LogCaptureFixture
) -> None:
    for action in (WHISPER, posting(TEAM, "U0ALICE")):
        await limiter_of(bot).withhold(action, 60)
    with caplog.at_level(logging.WARNING, "bot.slack.telling"):
        await ask_for_help(bot)
        await bot.services.answering.drain(5)
    assert "Slack takes no more now" in caplog.text
    assert bot.sandbox.calls("chat.postEphemeral") == []
    assert bot.sandbox.calls("chat.postMessage") == []


async def test_while_the_store_does_not_say_what_is_left_people_are_told_all_the_same(
    sandbox: OpenSandbox, tmp_path: Path
) -> None:
    async with bot_in(sandbox, tmp_path, store_patience=timedelta(seconds=0.2)) as bot:
        with nobody_else_writes(tmp_path):
            await ask_for_help(bot)
            await bot.whispered("U0ALICE", "Ask")
