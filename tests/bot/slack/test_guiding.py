"""What is said while a call waits decides nothing, and is offered as guidance."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agent.rules.ids import EventId
from agent.rules.interventions import ApprovalExpired
from agent.rules.recorded import Stamped
from agent.rules.state import EARLY
from bot.sandbox.opened import OpenSandbox
from bot.slack.ids import APPROVE, GUIDANCE_USE
from tests.bot.slack.agents import several_refunds
from tests.bot.slack.talking import MENTION, begun, said, say, the_run
from tests.bot.slack.workspace import Bot, Json, bot_in, drawing
from tests.store.database import ask


@pytest.fixture
async def bot(sandbox: OpenSandbox, tmp_path: Path) -> AsyncIterator[Bot]:
    """It draws."""
    async with bot_in(sandbox, tmp_path) as connected, drawing(connected):
        yield connected


@pytest.fixture
async def thread(bot: Bot) -> str:
    """Of a run that waits for finance to decide a refund."""
    return await begun(bot)


async def test_what_is_said_while_a_call_waits_decides_it_only_by_the_button(
    bot: Bot, thread: str
) -> None:
    approval, state = await bot.waiting_run()
    for text in ("yes please add more tests", "approve", "👍"):
        ts = await say(bot, "U0BOB", text, thread)
    await bot.act("U0BOB", "react", channel="C0SUPPORT", ts=ts, name="white_check_mark")
    assert (await the_run(bot)).approvals[approval.id].status == "pending"
    assert "approve" not in await said(bot), "who wants to decide is told how"
    await bot.act("U0BOB", "edit", channel="C0SUPPORT", ts=ts, text="only half, for &lt;now>")
    offer = await _offer(bot, thread, "only half")
    assert len(await _offers(bot, thread)) == 1, "nothing buries the card"
    assert await bot.whispered("U0BOB", "This decides nothing: to approve or deny, use the")
    assert "|its card>" in str(offer["blocks"])
    use = _button(offer)
    await bot.click("U0ALICE", offer, use)
    await bot.whispered("U0ALICE", "Not decided: only <!subteam^S0FINANCE> can decide this")
    assert (await the_run(bot)).approvals[approval.id].status == "pending"
    await bot.click("U0BOB", offer, use)
    ended = await bot.ended_run(state.run_id)
    decided = ended.approvals[approval.id].decided
    assert decided is not None
    assert (decided.action, decided.by) == ("steer", "slack:T0PILOT:U0BOB")
    heard = [words.text for reply in ended.replies for words in reply.heard]
    assert heard == [f"{EARLY} yes please add more tests"]

    def is_over() -> bool:
        shown = str(_all(bot, thread))
        is_open = GUIDANCE_USE in shown or APPROVE in shown
        return "Used as guidance by <@U0BOB>" in shown and not is_open

    await bot.sandbox.until(is_over, "all that was offered says so")
    assert [one for one in ended.own_calls if one.attempts] == []


async def test_what_is_said_while_two_calls_wait_is_used_for_both_with_one_click(
    sandbox: OpenSandbox, tmp_path: Path
) -> None:
    async with bot_in(sandbox, tmp_path, agent=several_refunds(2)) as bot, drawing(bot):
        said = await bot.say("U0ALICE", MENTION + "refund both", "C0SUPPORT")
        await bot.waiting_runs(2)
        await say(bot, "U0ALICE", "only half of each", str(said["ts"]))
        offer = await _offer(bot, str(said["ts"]), "Use for both")
        for user in ("U0ALICE", "U0BOB"):
            await bot.click(user, offer, _button(offer))
        told = await bot.whispered("U0ALICE", "Not decided: only <!subteam^S0FINANCE>")
        lines = [one.partition(": Not decided: ")[0] for one in told.splitlines()]
        assert lines == [
            "1. ORD-1, $180.00 · Refund an order",
            "2. ORD-2, $180.00 · Refund an order",
        ]
        ended = await bot.ended_run((await the_run(bot)).run_id)
        decided = [one.decided for one in ended.approvals.values()]
        assert [(one.guidance, one.by) for one in decided if one is not None] == [
            ("only half of each", "slack:T0PILOT:U0BOB")
        ] * 2
        assert bot.whispers("U0BOB") == []


async def test_a_deleted_message_takes_its_offer_away(bot: Bot, thread: str) -> None:
    approval, _ = await bot.waiting_run()
    ts = await say(bot, "U0BOB", "only half", thread)
    offer = await _offer(bot, thread, "only half")
    await bot.act("U0BOB", "delete", channel="C0SUPPORT", ts=ts)
    await bot.sandbox.until(
        lambda: "It was deleted." in str(_all(bot, thread)), "the offer says so"
    )
    await _click_anew(bot, "U0BOB", approval.id, "said:9:1", offer)
    await bot.whispered("U0BOB", "Not decided: That message was edited or deleted")
    assert (await the_run(bot)).approvals[approval.id].status == "pending"


async def test_words_that_were_put_otherwise_since_are_not_what_was_clicked(
    bot: Bot, thread: str
) -> None:
    approval, _ = await bot.waiting_run()
    ts = await say(bot, "U0ALICE", "only half", thread)
    offer = await _offer(bot, thread, "only half")
    (seen,) = [one for one in offer["blocks"] if one["type"] == "actions"]
    await bot.act("U0ALICE", "edit", channel="C0SUPPORT", ts=ts, text="to my own card")
    await _click_anew(bot, "U0BOB", approval.id, seen["block_id"], offer)
    await bot.whispered("U0BOB", "Not decided: That message was edited")
    assert (await the_run(bot)).approvals[approval.id].status == "pending"
    await bot.click("U0BOB", await _offer(bot, thread, "to my own card"), GUIDANCE_USE)
    decided = (await the_run(bot)).approvals[approval.id].decided
    assert decided is not None
    assert decided.guidance == "to my own card"


async def test_an_offer_of_before_is_over_with_its_question(bot: Bot, thread: str) -> None:
    approval, _ = await bot.waiting_run()
    await say(bot, "U0BOB", "only half", thread)
    offer, state = await _offer(bot, thread, "only half"), await the_run(bot)
    ask(bot.url, "UPDATE approvals SET expires_at = 1")
    expired = ApprovalExpired(approval_id=approval.id)
    now = bot.store.clock.now()
    await bot.store.journal.intend(
        state.run_id, [Stamped(EventId("late"), now, expired)], expected_seq=state.seq
    )
    await _click_anew(bot, "U0BOB", approval.id, _row(offer), offer)
    await bot.whispered("U0BOB", "Not decided: this expired")
    assert (await the_run(bot)).approvals[approval.id].status == "expired"


async def _click_anew(bot: Bot, user: str, approval_id: str, row: str, card: Json) -> None:
    """A click that comes when there is no such button any more."""
    action = {"action_id": GUIDANCE_USE, "value": approval_id, "block_id": row}
    payload = {
        "type": "block_actions",
        "user": {"id": user, "team_id": "T0PILOT"},
        "container": {"channel_id": "C0SUPPORT", "message_ts": card["ts"]},
        "trigger_id": "1.2.3",
        "actions": [action],
    }
    await bot.sandbox.inside.outbox.interact("interactive", payload)


def _row(offer: Json) -> str:
    """Of the button that stands there."""
    (row,) = [one["block_id"] for one in offer["blocks"] if one["type"] == "actions"]
    return str(row)


def _button(offer: Json) -> str:
    """The action of the last that stands there."""
    *_, row = [one for one in offer["blocks"] if one["type"] == "actions"]
    return str(row["elements"][0]["action_id"])


def _all(bot: Bot, thread: str) -> list[Json]:
    return bot.sandbox.messages("C0SUPPORT", thread)


async def _offers(bot: Bot, thread: str) -> list[Json]:
    return [one for one in _all(bot, thread) if GUIDANCE_USE in str(one.get("blocks"))]


async def _offer(bot: Bot, thread: str, words: str) -> Json:
    def found() -> Json | None:
        offers = [one for one in _all(bot, thread) if GUIDANCE_USE in str(one.get("blocks"))]
        return next((one for one in offers if words in str(one)), None)

    offer = await bot.sandbox.until(found, f"{words!r} is offered as guidance")
    return {**offer, "channel": "C0SUPPORT"}
