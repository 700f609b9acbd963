"""A question that nobody decides, in Slack: people are rung, it closes, and somebody has it asked again."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from agent.rules.events import Event
from agent.rules.ids import EventId
from agent.rules.interventions import ApprovalEscalated, ApprovalExpired, ApprovalReminded
from agent.rules.policy import Policy
from agent.rules.recorded import Stamped
from agent.rules.state import Approval
from bot.sandbox.opened import OpenSandbox
from bot.slack import overview
from bot.slack.ids import APPROVE, ASK_AGAIN
from bot.slack.payloads import Actor
from bot.slack.people import KEPT_SECONDS
from tests.bot.slack.agents import refunds
from tests.bot.slack.workspace import Bot, Json, bot_in, drawing
from tests.store.database import ask

POLICY = Policy.model_validate(
    {
        "rules": [
            {
                "tool": "process_refund",
                "action": "ask",
                "approvers": {"groups": ["S0FINANCE"]},
                "remind": "2h",
                "escalate": [{"after": "4h", "users": ["U0ALICE", "U0FRANK"]}],
            }
        ]
    }
)


@pytest.fixture
async def bot(sandbox: OpenSandbox, tmp_path: Path) -> AsyncIterator[Bot]:
    """A bot that draws; Alice's run asks finance, which is Bob alone."""
    async with bot_in(sandbox, tmp_path, agent=refunds(POLICY)) as connected, drawing(connected):
        connected.put_into("S0FINANCE", "U0BOB")
        await connected.command("U0ALICE", "refund ORD-3300 180")
        yield connected


async def record(bot: Bot, event: Event) -> None:
    """As the engine does when the time has come."""
    _, state = await bot.waiting_run()
    stamped = Stamped(EventId(f"late-{state.seq}"), bot.store.clock.now(), event)
    if isinstance(event, ApprovalExpired):  # The store's own clock says no before that.
        ask(bot.url, "UPDATE approvals SET expires_at = 1")
    await bot.store.journal.intend(state.run_id, [stamped], expected_seq=state.seq)


async def thread(bot: Bot) -> list[Json]:
    """The messages of the newest one; none before it has been opened."""
    roots = bot.sandbox.messages("C0SUPPORT")[-1:]
    return [one for root in roots for one in bot.sandbox.messages("C0SUPPORT", root["ts"])]


async def posted(bot: Bot, *words: str, count: int = 1) -> Json:
    """The newest message of the thread on which all of this stands, once there are so many."""

    async def found() -> Json | None:
        said = [one for one in await thread(bot) if all(word in str(one) for word in words)]
        return {**said[-1], "channel": "C0SUPPORT"} if len(said) == count else None

    return await bot.sandbox.until(found, f"{count} messages say {words}")


async def asked(bot: Bot) -> list[Approval]:
    return [approval for approval, _ in await bot.runtime.approvals(waiting_only=False)]


async def nobody_decides(bot: Bot) -> tuple[Approval, Json]:
    """The question that has expired, and its card."""
    approval, _ = await bot.waiting_run()
    await posted(bot, APPROVE)
    await record(bot, ApprovalExpired(approval_id=approval.id))
    return approval, await posted(bot, ASK_AGAIN)


async def test_people_are_rung_once_by_a_message_of_its_own(bot: Bot) -> None:
    approval, _ = await bot.waiting_run()
    await record(bot, ApprovalReminded(approval_id=approval.id, number=1))
    await posted(bot, "<!subteam^S0FINANCE> Reminder: ")
    await record(bot, ApprovalEscalated(approval_id=approval.id, stage=1))
    # Whoever asked for the run may not decide it, and is not rung.
    await posted(bot, "<@U0FRANK> You may decide this too: ")
    await record(bot, ApprovalReminded(approval_id=approval.id, number=2))
    await posted(bot, "<!subteam^S0FINANCE> <@U0FRANK> Reminder: ")
    # The one before it does not ring any more, and does not say that it is over.
    await posted(bot, "Reminder 1 of “Refund an order”; others followed")
    card = await posted(bot, APPROVE)
    await bot.click("U0FRANK", card, APPROVE)
    _, state = (await bot.runtime.approvals(waiting_only=False))[0]
    assert (await bot.ended_run(state.run_id)).answer == "All done."
    await posted(bot, "waited for a decision here", count=2)
    assert not [one for one in await thread(bot) if "Reminder: " in str(one)]


async def test_nobody_decided_and_whoever_asked_for_the_run_has_it_asked_again(bot: Bot) -> None:
    approval, card = await nobody_decides(bot)
    assert "Nobody decided by" in str(card)
    await bot.click("U0ALICE", card, ASK_AGAIN)
    newer, _ = await bot.waiting_run()
    assert newer.id != approval.id
    assert newer.requested.supersedes == approval.id
    await posted(bot, "Asked again below.")
    again = await posted(bot, APPROVE)
    assert "Asked again because: nobody decided in time" in str(again)
    await bot.click("U0BOB", again, APPROVE)
    (state,) = await bot.runs()
    assert (await bot.ended_run(state.run_id)).answer == "All done."
    assert bot.whispers("U0ALICE") == bot.whispers("U0BOB") == []


async def test_who_asked_for_the_run_has_it_asked_again_while_slack_does_not_say_who_may_decide(
    bot: Bot,
) -> None:
    approval, card = await nobody_decides(bot)
    bot.seconds.ahead += KEPT_SECONDS
    bot.sandbox.faults.add(method="usergroups.users.list", error="internal_error", times=9)
    await bot.click("U0BOB", card, ASK_AGAIN)
    await bot.whispered("U0BOB", "Not asked again: we could not look up in Slack who may decide")
    await bot.click("U0ALICE", card, ASK_AGAIN)
    assert (await bot.waiting_run())[0].requested.supersedes == approval.id


async def test_it_stands_in_the_list_of_those_who_can_have_it_asked_again(bot: Bot) -> None:
    approval, card = await nobody_decides(bot)
    for user, is_told in (("U0ALICE", True), ("U0BOB", True), ("U0ERIC", False)):
        told = (await overview.pending(bot.services, Actor(user, "T0PILOT"))).text
        assert (
            f"nobody decided in time: *Ask again* on its card · {approval.id}" in told
        ) is is_told
        assert "approve apr_" not in told
    await bot.click("U0ALICE", card, ASK_AGAIN)
    newer, _ = await bot.waiting_run()
    told = (await overview.pending(bot.services, Actor("U0BOB", "T0PILOT"))).text
    assert newer.id in told
    assert approval.id not in told


async def test_a_double_click_asks_once(bot: Bot) -> None:
    _, card = await nobody_decides(bot)
    await asyncio.gather(*(bot.click("U0BOB", card, ASK_AGAIN) for _ in range(3)))
    await bot.waiting_run()
    await posted(bot, APPROVE)
    assert [one.status for one in await asked(bot)] == ["expired", "pending"]


async def test_others_are_told_who_can_have_it_asked_again(bot: Bot) -> None:
    _, card = await nobody_decides(bot)
    await bot.click("U0FRANK", card, ASK_AGAIN)
    told = await bot.whispered("U0FRANK", "Not asked again: only <!subteam^S0FINANCE> can decide")
    assert told.endswith("<@U0ALICE>, who asked for the run, can have it asked again.")
    await bot.click("U0CAROL", card, ASK_AGAIN)
    await bot.whispered("U0CAROL", "Not asked again: guests can't")
    assert [one.status for one in await asked(bot)] == ["expired"]


async def test_a_late_yes_is_told_that_it_expired_and_who_can_ask_again(bot: Bot) -> None:
    approval, _ = await bot.waiting_run()
    card = await posted(bot, APPROVE)
    await record(bot, ApprovalExpired(approval_id=approval.id))
    await bot.click("U0BOB", card, APPROVE)
    told = await bot.whispered("U0BOB", "Not decided: this expired ")
    assert told.endswith(". <@U0ALICE>, or whoever may decide it, can ask it again.")
    assert "did not happen" not in told
    assert [one.status for one in await asked(bot)] == ["expired"]


async def test_an_old_picture_asks_nothing_again(bot: Bot) -> None:
    _, card = await nobody_decides(bot)
    await bot.click("U0ALICE", card, ASK_AGAIN)
    await posted(bot, APPROVE)
    await bot.click("U0BOB", card, ASK_AGAIN)
    await bot.whispered("U0BOB", "Not asked again: this was replaced by a newer question")
    (state,) = await bot.runs()
    await bot.runtime.stop(state.run_id, state.requester)
    await bot.click("U0ALICE", card, ASK_AGAIN)
    await bot.whispered("U0ALICE", "Not asked again: ")
    assert [one.status for one in await asked(bot)] == ["expired", "cancelled"]


@pytest.mark.parametrize("value", ["apr_unknown", "", "run_1", "apr_1 or so"])
async def test_a_forged_click_asks_nothing_again_and_is_answered(bot: Bot, value: str) -> None:
    _, card = await nobody_decides(bot)
    await bot.click("U0BOB", card, ASK_AGAIN, value=value)
    await bot.services.answering.drain(5)
    assert len(bot.whispers("U0BOB")) == 1
    assert [one.status for one in await asked(bot)] == ["expired"]


async def test_what_is_open_is_not_asked_again(bot: Bot) -> None:
    approval, _ = await bot.waiting_run()
    card = await posted(bot, APPROVE)
    payload = {
        "type": "block_actions",
        "user": {"id": "U0BOB", "team_id": "T0PILOT"},
        "container": {"channel_id": "C0SUPPORT", "message_ts": card["ts"], "thread_ts": card["ts"]},
        "actions": [{"action_id": ASK_AGAIN, "value": approval.id}],
    }
    await bot.sandbox.inside.outbox.interact("interactive", payload)
    await bot.whispered("U0BOB", "Nothing was done: this is open, and can be decided.")


async def test_the_worker_itself_closes_what_nobody_decides(
    sandbox: OpenSandbox, tmp_path: Path
) -> None:
    rule = POLICY.rules[0].model_copy(
        update={"expires": timedelta(seconds=1), "remind": None, "escalate": None}
    )
    agent = refunds(Policy(rules=(rule.model_copy(update={"on_expiry": "deny"}),)))
    async with bot_in(sandbox, tmp_path, agent=agent) as bot, drawing(bot):
        await bot.command("U0ALICE", "refund ORD-3300 180")
        await posted(bot, "The agent was told that nobody did.")
        (state,) = await bot.runs()
        (call,) = (await bot.ended_run(state.run_id)).calls.values()
        assert call.result is not None
        assert call.result.outcome == "expired"
        assert call.attempts == 0
