"""Words that are edited into what reads like a decision decide nothing, and who wrote them is told, as of new ones."""

from __future__ import annotations

import pytest

from bot.slack.cards.guidance import notes
from bot.slack.help import HOW_TO_DECIDE
from tests.bot.slack.talking import MENTION, begun, say, the_run
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


async def test_who_edits_what_no_run_was_told_into_a_decision_is_told_how_to_decide(
    bot: Bot,
) -> None:
    thread = await begun(bot)
    approval, _ = await bot.waiting_run()
    ts = await say(bot, "U0BOB", f"{MENTION}approve", thread)
    await bot.act(
        "U0BOB", "edit", channel="C0SUPPORT", ts=ts, text=f"{MENTION}approve {approval.id}"
    )
    await bot.services.answering.drain(5)
    assert bot.whispers("U0BOB") == [HOW_TO_DECIDE, HOW_TO_DECIDE]
    _, state = await bot.waiting_run()
    assert state.approvals[approval.id].status == "pending"


@pytest.mark.parametrize(
    "words", ["please approve {id}", "yes, approve {id}", "> {mention}approve {id}"]
)
async def test_what_names_the_decision_is_no_guidance(bot: Bot, words: str) -> None:
    thread = await begun(bot)
    approval, _ = await bot.waiting_run()
    ts = await say(bot, "U0BOB", f"{MENTION}hm", thread)
    text = words.format(id=approval.id, mention=MENTION)
    await bot.act("U0BOB", "edit", channel="C0SUPPORT", ts=ts, text=text)
    await bot.services.answering.drain(5)
    (note,) = notes((await bot.waiting_run())[1])
    assert [one.is_usable for one in note.offers] == [False]


async def test_a_decision_that_is_quoted_is_told_to_nobody(bot: Bot) -> None:
    thread = await begun(bot)
    approval, _ = await bot.waiting_run()
    await say(bot, "U0ALICE", f"> {MENTION}approve {approval.id}", thread)
    assert bot.whispers("U0ALICE") == [HOW_TO_DECIDE]
    assert (await the_run(bot)).said == ()
