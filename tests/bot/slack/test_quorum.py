"""Several people have to say yes: each is counted once, and only while they may."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from agent import Agent, Policy
from agent.rules.events import ApprovalVoted
from agent.rules.state import RunState
from bot.sandbox.opened import OpenSandbox
from bot.slack import overview
from bot.slack.ids import APPROVE, DENY, STEER
from bot.slack.payloads import Actor
from tests.bot.slack.agents import refunds
from tests.bot.slack.workspace import Bot, Json, bot_in, drawing

MENTION = "<@U0PILOT> "
BOB = "slack:T0PILOT:U0BOB"


def asked_of(**rule: Any) -> Agent:
    """A refund that these people are asked about."""
    return refunds(
        Policy.model_validate({"rules": [{"tool": "process_refund", "action": "ask", **rule}]})
    )


ANY_TWO = asked_of(approvers={"groups": ["S0FINANCE"], "count": 2})
ONE_EACH = asked_of(one_from_each=["S0FINANCE", "S0LEGAL"])


@pytest.fixture
def agent() -> Agent:
    return ANY_TWO


@pytest.fixture
async def bot(sandbox: OpenSandbox, tmp_path: Path, agent: Agent) -> AsyncIterator[Bot]:
    """A bot that draws; Alice's refund waits for finance, and for legal where the rule names it."""
    async with bot_in(sandbox, tmp_path, agent=agent) as connected, drawing(connected):
        connected.put_into("S0LEGAL", "U0BOB")
        yield connected


@pytest.fixture
async def card(bot: Bot) -> Json:
    """As the drawer posted it."""
    said = await bot.say("U0ALICE", MENTION + "refund ORD-3300 180", "C0SUPPORT")

    async def posted() -> Json | None:
        thread = bot.sandbox.messages("C0SUPPORT", said["ts"])
        return next((one for one in thread if APPROVE in str(one)), None)

    return {"channel": "C0SUPPORT", "ts": (await bot.sandbox.until(posted, "the card"))["ts"]}


async def shows(bot: Bot, card: Json, *words: str) -> str:
    """The card as soon as all of this stands on it."""

    async def read() -> str | None:
        text = str(await bot.message(card))
        return text if all(one in text for one in words) else None

    return await bot.sandbox.until(read, f"the card says {words}")


async def approve(bot: Bot, user: str, card: Json) -> None:
    said = await bot.click(user, card, APPROVE)
    assert said["acknowledged"]
    await bot.services.answering.drain(5)


async def the_run(bot: Bot) -> RunState:
    (state,) = await bot.runs()
    return state


def votes(state: RunState) -> list[str]:
    (approval,) = state.approvals.values()
    return [vote.voted.by for vote in approval.votes]


async def test_two_people_of_one_group_decide_together_in_the_thread(bot: Bot, card: Json) -> None:
    first = await shows(bot, card, "any 2 of <!subteam^S0FINANCE>")
    assert "of 2:" not in first
    await approve(bot, "U0BOB", card)
    text = await shows(bot, card, "1 of 2: approved by <@U0BOB>", "One more is needed.")
    # Named in the small print, and called by nothing else.
    assert text.count("<!subteam") == text.count("any 2 of <!subteam^S0FINANCE>") == 1
    assert APPROVE in text
    state = await the_run(bot)
    assert [call.attempts for call in state.calls.values()] == [0]
    await approve(bot, "U0FRANK", card)
    ended = await bot.ended_run(state.run_id)
    assert [call.result.outcome for call in ended.calls.values() if call.result] == ["ok"]
    text = await shows(bot, card, "Approved* by <@U0BOB> and <@U0FRANK>", "Done <!date")
    assert "of 2:" not in text
    assert APPROVE not in text
    assert bot.whispers("U0BOB") == bot.whispers("U0FRANK") == []


async def test_a_click_redraws_its_card_with_the_yes_at_once(bot: Bot, card: Json) -> None:
    await approve(bot, "U0BOB", card)
    (own,) = bot.sandbox.calls("response_url")
    assert "1 of 2: approved by <@U0BOB>" in str(own["arguments"])
    assert APPROVE in str(own["arguments"])


async def test_a_yes_that_is_redrawn_late_does_not_open_a_decided_card_again(
    bot: Bot, card: Json
) -> None:
    bot.sandbox.faults.add(method="response_url", latency=1.0, contains="1 of 2")
    await bot.click("U0BOB", card, APPROVE)
    await bot.click("U0FRANK", card, APPROVE)
    await bot.ended_run((await the_run(bot)).run_id)
    await shows(bot, card, "Done <!date")
    await bot.services.answering.drain(5)
    text = await shows(bot, card, "Done <!date", "Approved* by <@U0BOB> and <@U0FRANK>")
    assert APPROVE not in text


async def test_the_same_person_counts_once_and_is_told_what_is_needed(bot: Bot, card: Json) -> None:
    await approve(bot, "U0BOB", card)
    await approve(bot, "U0BOB", card)
    assert bot.whispers("U0BOB") == ["Your yes is counted; one more is needed."]
    state = await the_run(bot)
    assert votes(state) == [BOB]
    assert not state.is_ended


async def test_whoever_has_said_yes_can_still_deny_and_one_no_is_enough(
    bot: Bot, card: Json
) -> None:
    await approve(bot, "U0BOB", card)
    await bot.click("U0BOB", card, DENY)
    state = await bot.ended_run((await the_run(bot)).run_id)
    assert [call.result.outcome for call in state.calls.values() if call.result] == ["denied"]
    assert "of 2:" not in await shows(bot, card, "Denied* by <@U0BOB>", "It did not happen.")


async def test_two_at_the_same_moment_are_both_counted(bot: Bot, card: Json) -> None:
    await asyncio.gather(approve(bot, "U0BOB", card), approve(bot, "U0FRANK", card))
    await bot.ended_run((await the_run(bot)).run_id)
    await shows(bot, card, "Approved*", "<@U0BOB>", "<@U0FRANK>")


@pytest.mark.parametrize("agent", [ONE_EACH])
async def test_each_group_needs_a_yes_of_its_own_by_somebody_else(bot: Bot, card: Json) -> None:
    await shows(bot, card, "one each of <!subteam^S0FINANCE> and <!subteam^S0LEGAL>")
    await approve(bot, "U0BOB", card)
    # Bob is in both, and still only one person.
    await shows(bot, card, "1 of 2: approved by <@U0BOB>", "One more is needed")
    await approve(bot, "U0FRANK", card)
    state = await bot.ended_run((await the_run(bot)).run_id)
    assert [call.result.outcome for call in state.calls.values() if call.result] == ["ok"]


@pytest.mark.parametrize("agent", [ONE_EACH])
async def test_two_of_the_same_group_are_not_one_of_each(bot: Bot, card: Json) -> None:
    bot.put_into("S0LEGAL", "U0ALICE")
    await approve(bot, "U0BOB", card)
    await approve(bot, "U0FRANK", card)
    await shows(
        bot,
        card,
        "1 of 2: approved by <@U0BOB>",
        "1 of 2: approved by <@U0FRANK>",
        "One more is needed, from <!subteam^S0LEGAL>.",
    )
    assert not (await the_run(bot)).is_ended


@pytest.mark.parametrize("gone", ["deactivated", "out of the group"])
async def test_the_yes_of_somebody_who_has_left_counts_no_more_and_the_card_says_so(
    bot: Bot, card: Json, gone: str
) -> None:
    await approve(bot, "U0BOB", card)
    if gone == "deactivated":
        bot.deactivate("U0BOB")
    else:
        bot.put_into("S0FINANCE", "U0FRANK")
    await approve(bot, "U0FRANK", card)
    text = await shows(bot, card, "approved by <@U0BOB>", "not counted: Slack does not confirm")
    assert "1 of 2: approved by <@U0FRANK>" in text
    assert "One more is needed." in text
    state = await the_run(bot)
    assert not state.is_ended
    (approval,) = state.approvals.values()
    assert [vote.voted.not_counted for vote in approval.votes] == [(), (BOB,)]
    bot.put_into("S0FINANCE", "U0FRANK", "U0ALICE", "U0CAROL")
    await bot.click("U0CAROL", card, APPROVE)
    await bot.whispered("U0CAROL", "guests")
    assert not (await the_run(bot)).is_ended


async def test_a_yes_counts_again_when_its_giver_is_back(bot: Bot, card: Json) -> None:
    await approve(bot, "U0BOB", card)
    bot.put_into("S0FINANCE", "U0FRANK")
    await approve(bot, "U0FRANK", card)
    bot.put_into("S0FINANCE", "U0FRANK", "U0BOB")
    await approve(bot, "U0BOB", card)
    await bot.ended_run((await the_run(bot)).run_id)


async def test_a_voter_whom_slack_does_not_tell_of_is_not_counted(bot: Bot, card: Json) -> None:
    await approve(bot, "U0BOB", card)
    bot.put_into("S0FINANCE", "U0FRANK", "U0BOB")
    bot.sandbox.faults.add(method="users.info", error="internal_error", times=1, contains="U0BOB")
    await approve(bot, "U0FRANK", card)
    assert not (await the_run(bot)).is_ended
    # The same yes again completes it, once Slack tells.
    await approve(bot, "U0FRANK", card)
    await bot.ended_run((await the_run(bot)).run_id)


@pytest.mark.parametrize("agent", [ONE_EACH])
async def test_a_group_that_must_say_yes_and_can_not_be_looked_up_refuses(
    bot: Bot, card: Json
) -> None:
    bot.sandbox.faults.add(
        method="usergroups.users.list", error="internal_error", times=2, contains="S0LEGAL"
    )
    await approve(bot, "U0BOB", card)
    await bot.whispered("U0BOB", "we could not look up in Slack who may decide this")
    assert votes(await the_run(bot)) == []


async def test_a_written_yes_is_counted_and_the_writer_is_told_what_is_needed(
    bot: Bot, card: Json
) -> None:
    approval, state = await bot.waiting_run()
    words = f"{MENTION}approve {approval.id}"
    for _ in range(2):
        await bot.say("U0BOB", words, "C0SUPPORT", card["ts"])
        await bot.services.answering.drain(5)
    assert bot.whispers("U0BOB") == ["Your yes is counted; one more is needed."] * 2
    await bot.say("U0FRANK", words, "C0SUPPORT", card["ts"])
    await bot.whispered(
        "U0FRANK", "Your decision was saved: ✅ Approved by <@U0BOB> and <@U0FRANK>"
    )
    await bot.ended_run(state.run_id)


async def test_what_i_have_said_yes_to_waits_for_me_no_more(bot: Bot, card: Json) -> None:
    bob, frank = Actor("U0BOB", "T0PILOT"), Actor("U0FRANK", "T0PILOT")
    assert "ORD-3300" in (await overview.pending(bot.services, bob)).text
    await approve(bot, "U0BOB", card)
    assert (await overview.pending(bot.services, bob)).text.startswith("Nothing waits for you.")
    assert "1 of 2 have said yes" in (await overview.pending(bot.services, frank)).text


async def test_a_changed_call_has_the_steerers_yes_and_needs_the_others(
    bot: Bot, card: Json
) -> None:
    await approve(bot, "U0FRANK", card)
    await bot.click("U0BOB", card, STEER)
    values = {"arg.amount": "90"}
    await bot.submit("U0BOB", **values)

    async def changed() -> RunState | None:
        state = await the_run(bot)
        return state if len(state.approvals) == 2 and state.open_approvals else None

    state = await bot.sandbox.until(changed, "the changed refund is asked about")
    (open_one,) = state.open_approvals
    assert [vote.voted.by for vote in open_one.votes] == [BOB]
    await shows(bot, card, "Steered* by <@U0BOB>", "$180.00 → $90.00")


async def test_a_vote_is_recorded_with_what_made_it_count(bot: Bot, card: Json) -> None:
    await approve(bot, "U0BOB", card)
    state = await the_run(bot)
    recorded = await bot.store.journal.read(state.run_id)
    (vote,) = [one.event for one in recorded if isinstance(one.event, ApprovalVoted)]
    assert (vote.by, vote.user, vote.groups) == (BOB, "U0BOB", ("S0FINANCE",))
    assert vote.authority == "listed"
