"""A store or a Slack that does not answer: nothing is lost, and nothing is said that is not so."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from bot.sandbox.delivery.transport import Timing
from bot.sandbox.opened import OpenSandbox, open_sandbox
from bot.sandbox.state import Sandbox
from bot.slack.ids import APPROVE, REVIEW_HAPPENED, STEER
from tests.bot.slack.agents import vouchers
from tests.bot.slack.workspace import Bot, bot_in, nobody_else_writes

MENTION = "<@U0PILOT> "


@pytest.fixture
async def impatient(tmp_path: Path) -> AsyncIterator[Bot]:
    """A bot that has whoever acts wait no moment, and gives a locked store half a second; Slack sends again at once."""
    timing = Timing(ack=1.0, socket_redelivery=0.7, retry_delays=(0.05, 0.5, 0.5))
    async with (
        # What a busy machine acknowledges late is no fault here: Slack sends it again.
        open_sandbox(Sandbox(timing=timing), allow_violations=True) as sandbox,
        bot_in(sandbox, tmp_path, patience=0.0, store_patience=timedelta(seconds=0.5)) as bot,
    ):
        yield bot


async def test_a_store_that_stays_locked_decides_nothing_and_says_so(
    impatient: Bot, tmp_path: Path
) -> None:
    await impatient.say("U0ALICE", MENTION + "refund ORD-3300 180", "C0SUPPORT")
    card, approval, state = await impatient.post_card()
    with nobody_else_writes(tmp_path):
        said = await impatient.click("U0BOB", card, APPROVE)
        assert said["acknowledged"]
        await impatient.whispered("U0BOB", "Still saving your decision")
        told = await impatient.whispered("U0BOB", "Nothing has changed; please try again")
    assert approval.id in told
    assert [one.id for one, _ in await impatient.runtime.approvals()] == [approval.id]
    await impatient.click("U0BOB", card, APPROVE)
    await impatient.ended_run(state.run_id)


async def test_a_modal_keeps_what_was_typed_when_the_store_is_away(
    sandbox: OpenSandbox, tmp_path: Path
) -> None:
    async with bot_in(sandbox, tmp_path, store_patience=timedelta(seconds=0.2)) as bot:
        await bot.say("U0ALICE", MENTION + "refund ORD-3300 180", "C0SUPPORT")
        card, _, state = await bot.post_card()
        await bot.click("U0BOB", card, STEER)
        with nobody_else_writes(tmp_path):
            said = await bot.submit("U0BOB", **{"arg.amount": "90"})
        assert "please try again" in said["errors"]["guidance"]
        await bot.submit("U0BOB", **{"arg.amount": "90"})
        await bot.ended_run(state.run_id)


async def test_a_submission_that_takes_long_is_acknowledged_and_the_truth_follows(
    impatient: Bot, tmp_path: Path
) -> None:
    await impatient.say("U0ALICE", MENTION + "refund ORD-3300 180", "C0SUPPORT")
    card, _, state = await impatient.post_card()
    await impatient.click("U0BOB", card, STEER)
    await impatient.sandbox.until(lambda: impatient.view("U0BOB"), "the form is open")
    with nobody_else_writes(tmp_path):
        said = await impatient.submit("U0BOB", **{"arg.amount": "90"})
        assert said["acknowledged"]
        saving = str(impatient.view("U0BOB"))
        assert "Still saving" in saving
        assert "You'll be told in a direct message." in saving
    await impatient.ended_run(state.run_id)
    await impatient.services.answering.drain(5)
    told = impatient.sandbox.messages("D0BOB")
    assert "Your decision was saved" in told[-1]["text"]


async def test_a_mention_that_finds_the_store_locked_is_taken_when_slack_sends_it_again(
    impatient: Bot, tmp_path: Path
) -> None:
    with nobody_else_writes(tmp_path):
        said = await impatient.say("U0ALICE", MENTION + "refund ORD-3300 180", "C0SUPPORT")
        assert not said["acknowledged"]
    await impatient.waiting_run()
    assert len(await impatient.runs()) == 1
    asked_for_it_again(impatient)


async def test_an_event_comes_again_while_slack_does_not_say_who_we_are(impatient: Bot) -> None:
    impatient.sandbox.faults.add(method="auth.test", error="internal_error")
    said = await impatient.say("U0ALICE", MENTION + "refund ORD-3300 180", "C0SUPPORT")
    await impatient.waiting_run()
    assert said["ts"] in (await impatient.runs())[0].session
    asked_for_it_again(impatient)


def asked_for_it_again(bot: Bot) -> None:
    """By not acknowledging, which is a violation elsewhere."""
    found = bot.sandbox.violations
    assert {one["kind"] for one in found} <= {"unacknowledged_event", "late_acknowledgement"}
    assert found
    found.clear()


async def test_what_nobody_knows_is_settled_by_a_click(
    sandbox: OpenSandbox, tmp_path: Path
) -> None:
    async with bot_in(sandbox, tmp_path, agent=vouchers()) as bot:
        await bot.say("U0ALICE", MENTION + "send a voucher", "C0SUPPORT")
        card, approval, state = await bot.post_card()
        assert approval.kind == "review"
        await bot.click("U0ALICE", card, REVIEW_HAPPENED)
        await bot.whispered("U0ALICE", "Not decided")
        await bot.click("U0BOB", card, REVIEW_HAPPENED)
        ended = await bot.ended_run(state.run_id)
        assert [call.result.outcome for call in ended.calls.values() if call.result] == ["happened"]
