"""``/agent journal``: what happened in a run, for those who may know it."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from agent.rules.ids import Principal
from agent.rules.policy import Policy
from bot.sandbox.opened import OpenSandbox
from bot.slack.ids import APPROVE
from bot.slack.journal.showing import journal
from bot.slack.payloads import Actor
from tests.bot.cards.checking import shown
from tests.bot.slack.agents import asking, refunds
from tests.bot.slack.workspace import Bot, Json, bot_in

FINANCE = {"groups": ["S0FINANCE"]}
ALLOWED = Policy.model_validate({"owners": FINANCE, "rules": [{"tool": "*", "action": "allow"}]})
ALICES = Principal("slack:T0PILOT:U0ALICE")
FRANK = Actor("U0FRANK", "T0PILOT")
_NOT_FOR_THEM = "There is no run with this id of which you may read what happened."


async def told(bot: Bot, user: str, run_id: str = "") -> str:
    """What the command says to this person, all of it."""
    before = len(bot.sandbox.ephemerals(user))
    await bot.command(user, f"journal {run_id}".strip())

    def found() -> list[Json]:
        return bot.sandbox.ephemerals(user)[before:]

    (answer,) = await bot.sandbox.until(found, f"{user} is told what happened")
    return shown(answer.get("blocks", ())) or str(answer["text"])


async def test_whoever_asked_and_whoever_may_decide_read_what_happened_with_links(
    drawn: Bot,
) -> None:
    await drawn.command("U0ALICE", "refund ORD-3300 180")
    _, state = await drawn.waiting_run()
    root = await drawn.sandbox.until(
        lambda: drawn.sandbox.messages("C0SUPPORT")[-1:], "the thread has begun"
    )

    def card() -> Json | None:
        thread = drawn.sandbox.messages("C0SUPPORT", root[0]["ts"])
        return next((one for one in thread if APPROVE in str(one)), None)

    asked = await drawn.sandbox.until(card, "the card stands there")
    await drawn.click("U0BOB", {**asked, "channel": "C0SUPPORT"}, APPROVE)
    await drawn.ended_run(state.run_id)
    for read in (await told(drawn, "U0ALICE"), await told(drawn, "U0BOB", state.run_id)):
        assert "<@U0ALICE> asked: “refund ORD-3300 180”" in read
        assert "✅ <@U0BOB> approved *Refund an order*" in read
        assert f"archives/C0SUPPORT/p{root[0]['ts'].replace('.', '')}|look>" in read
        in_thread = f"?thread_ts={root[0]['ts']}&amp;cid=C0SUPPORT"
        assert f"archives/C0SUPPORT/p{asked['ts'].replace('.', '')}{in_thread}|look>" in read
        assert "✓ Done: “All done.”" in read


async def test_whoever_only_decides_and_is_not_in_its_conversation_reads_nothing_that_was_said(
    bot: Bot,
) -> None:
    await bot.say("U0ALICE", "refund ORD-3300 180", "D0ALICE")
    _, state = await bot.waiting_run()
    assert "asked: “refund ORD-3300 180”" in await told(bot, "U0ALICE", state.run_id)
    read = await told(bot, "U0BOB", state.run_id)
    assert "<@U0ALICE> asked for it" in read
    assert "⏸ May it? *Refund an order*" in read
    assert "refund ORD-3300 180" not in read


async def test_everybody_else_is_told_what_they_are_told_of_no_run(bot: Bot) -> None:
    run_id = await bot.runtime.start("refund 1", requester=ALICES, channel="C0SUPPORT")
    await bot.waiting_run()
    bot.put_into("S0FINANCE", "U0BOB")
    unknown = await told(bot, "U0FRANK", "run_unknown")
    assert unknown.startswith(_NOT_FOR_THEM)
    assert await told(bot, "U0FRANK", run_id) == unknown
    assert await told(bot, "U0FRANK") == (
        "You have no runs. Of another one: `/agent journal RUN`, with its id."
    )
    assert "Guests can't" in await told(bot, "U0CAROL", run_id)
    assert len(await bot.runs()) == 1


async def test_that_any_full_member_may_answer_makes_nobody_a_reader(
    sandbox: OpenSandbox, tmp_path: Path
) -> None:
    async with bot_in(sandbox, tmp_path, agent=asking()) as bot:
        run_id = await bot.runtime.start("refund 1", requester=ALICES)
        approval, _ = await bot.waiting_run()
        assert approval.approvers.members
        assert (await journal(bot.services, FRANK, run_id)).text.startswith(_NOT_FOR_THEM)
        assert "How much?" in await told(bot, "U0ALICE", run_id)


async def test_in_a_direct_message_whoever_asked_gets_links_and_nobody_else(drawn: Bot) -> None:
    said = await drawn.say("U0ALICE", "refund ORD-3300 180", "D0ALICE")

    def card() -> Json | None:
        thread = drawn.sandbox.messages("D0ALICE", said["ts"])
        return next((one for one in thread if APPROVE in str(one)), None)

    asked = await drawn.sandbox.until(card, "the card stands there")
    _, state = await drawn.waiting_run()
    in_thread = f"?thread_ts={said['ts']}&amp;cid=D0ALICE"
    link = f"archives/D0ALICE/p{asked['ts'].replace('.', '')}{in_thread}|look>"
    assert link in await told(drawn, "U0ALICE", state.run_id)
    assert link not in await told(drawn, "U0BOB", state.run_id)


async def test_owners_read_what_nobody_was_asked_about(
    sandbox: OpenSandbox, tmp_path: Path
) -> None:
    async with bot_in(sandbox, tmp_path, agent=refunds(ALLOWED)) as bot:
        run_id = await bot.runtime.start("refund 1", requester=ALICES)
        await bot.ended_run(run_id)
        assert "<@U0ALICE> asked: “refund 1”" in await told(bot, "U0BOB", run_id)
        bot.put_into("S0FINANCE", "U0BOB")
        assert (await journal(bot.services, FRANK, run_id)).text.startswith(_NOT_FOR_THEM)


async def test_what_can_not_be_read_only_its_requester_is_told_of(bot: Bot, tmp_path: Path) -> None:
    run_id = await bot.runtime.start("refund 1", requester=ALICES)
    with sqlite3.connect(tmp_path / "pilothouse.db") as database:
        database.execute(
            "update journal set body = replace(body, 'run_started', 'run_dreamt') where run_id = ?",
            (run_id,),
        )
    database.close()
    assert "can't be read by the version that runs now" in await told(bot, "U0ALICE", run_id)
    assert (await told(bot, "U0BOB", run_id)).startswith(_NOT_FOR_THEM)
