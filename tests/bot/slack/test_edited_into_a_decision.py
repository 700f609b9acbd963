"""Words that are edited into what reads like a decision decide nothing, and who wrote them is told, as of new ones."""

from __future__ import annotations

import pytest

from tests.bot.slack.talking import MENTION, begun, say
from tests.bot.slack.workspace import Bot


@pytest.mark.parametrize("words", ["yes", "approve", f"{MENTION}approve {{approval}}"])
async def test_an_edit_that_reads_like_a_decision_is_told_to_decide_nothing(
    bot: Bot, words: str
) -> None:
    thread = await begun(bot)
    approval, _ = await bot.waiting_run()
    ts = await say(bot, "U0BOB", f"{MENTION}hm", thread)
    before = len(bot.whispers("U0BOB"))
    text = words.format(approval=approval.id)
    await bot.act("U0BOB", "edit", channel="C0SUPPORT", ts=ts, text=text)
    await bot.services.answering.drain(5)
    _, state = await bot.waiting_run()
    assert state.approvals[approval.id].status == "pending"
    assert len(bot.whispers("U0BOB")) == before + 1


async def test_a_polite_approve_with_its_id_is_told_how_to_decide(bot: Bot) -> None:
    thread = await begun(bot)
    approval, _ = await bot.waiting_run()
    await say(bot, "U0BOB", f"{MENTION}please approve {approval.id}", thread)
    assert len(bot.whispers("U0BOB")) == 1
