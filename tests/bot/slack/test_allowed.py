"""An agent's lists of who may start and stop its runs, and what whoever is not on them learns."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from agent.rules.access import Access
from agent.rules.ids import RunId
from agent.rules.rule import People
from agent.rules.state import RunState
from bot.sandbox.opened import OpenSandbox
from bot.slack.allowed import NotListed, who_may
from bot.slack.ids import RUN_RETRY, RUN_STOP
from bot.slack.payloads import Actor
from bot.slack.people import CouldNotLookUp
from tests.bot.slack.agents import refunds
from tests.bot.slack.workspace import Bot, Json, bot_in

MENTION = "<@U0PILOT> "
LISTS = Access(
    start=People(users=("U0ALICE", "U0CAROL")),
    stop=People(users=("U0ERIN",), groups=("S0FINANCE",)),
)
ONLY_ALICE = (
    "Nothing was started: only <@U0ALICE> or <@U0CAROL> can start or retry runs of refunds."
)
ONLY_FINANCE = "Nothing was done: only <!subteam^S0FINANCE> or <@U0ERIN> can pause, resume or stop"


async def told(bot: Bot, user: str, text: str, channel: str = "C0SUPPORT") -> str:
    """What somebody is told who uses the command."""
    return str((await bot.command(user, text, channel))["response"]["text"])


async def button(bot: Bot, action_id: str, state: RunState) -> Json:
    """A message of ours in C0SUPPORT with such a button for this run."""
    text = {"type": "plain_text", "text": "Do it"}
    label = {"accessibility_label": "Do it", "action_id": action_id, "value": state.run_id}
    element = {"type": "button", "text": text, **label}
    said = await bot.services.slack.chat_postMessage(
        channel="C0SUPPORT", text="-", blocks=[{"type": "actions", "elements": [element]}]
    )
    return {"channel": "C0SUPPORT", "ts": str(said["ts"])}


async def test_only_those_on_the_lists_start_and_stop_and_the_others_are_told_who_may(
    sandbox: OpenSandbox, tmp_path: Path
) -> None:
    agent = replace(refunds(), access=LISTS, starts_per_hour=1)
    async with bot_in(sandbox, tmp_path, agent=agent) as bot:
        assert (await told(bot, "U0BOB", "refund ORD-3300 180")).startswith(ONLY_ALICE)
        await bot.say("U0BOB", MENTION + "refund ORD-3300 180", "C0SUPPORT")
        await bot.whispered("U0BOB", ONLY_ALICE)
        # A list lets nobody in who may do nothing here.
        assert "guests can't start" in await told(bot, "U0CAROL", "refund ORD-3300 180")
        assert await bot.runs() == []

        await bot.say("U0ALICE", MENTION + "refund ORD-3300 180", "C0SUPPORT")
        _, state = await bot.waiting_run()
        assert "you have started 1 run of refunds in the last hour" in await told(
            bot, "U0ALICE", "refund ORD-3300 90"
        )
        assert len(await bot.runs()) == 1
        # Nobody sees a thread open and go.
        assert sandbox.calls("chat.delete") == []

        assert (await told(bot, "U0ALICE", "stop")).startswith(ONLY_FINANCE)
        await bot.click("U0ALICE", await button(bot, RUN_STOP, state), RUN_STOP)
        await bot.whispered("U0ALICE", ONLY_FINANCE)
        await bot.click("U0BOB", await button(bot, RUN_RETRY, state), RUN_RETRY)
        await bot.whispered("U0BOB", ONLY_ALICE.replace("started", "done"))
        assert (await bot.runtime.state(state.run_id)).stop is None
        stopped = await told(bot, "U0BOB", f"stop {state.run_id}")
        assert stopped.startswith("Stopped: ")
        assert "refund ORD-3300 180" in stopped


async def test_of_a_run_that_one_does_not_see_one_learns_nothing(bot: Bot) -> None:
    await bot.say("U0ALICE", "refund ORD-3300 180", "D0ALICE")
    _, state = await bot.waiting_run()
    unknown = await told(bot, "U0BOB", "stop run_nobody-knows")
    assert unknown.startswith("Nothing was done: we know of no such run, or it isn't yours")
    assert await told(bot, "U0BOB", f"stop {state.run_id}") == unknown
    await bot.click("U0BOB", await button(bot, RUN_STOP, state), RUN_STOP)
    await bot.whispered("U0BOB", unknown)
    assert (await bot.runtime.state(state.run_id)).stop is None
    assert "refund ORD-3300 180" in await told(bot, "U0ALICE", f"pause {state.run_id}")


async def test_whoever_is_in_its_conversation_stops_a_run_from_elsewhere_without_its_words(
    bot: Bot,
) -> None:
    await bot.command("U0BOB", "refund ORD-3300 180", "C0OPS")
    _, state = await bot.waiting_run()
    stopped = await told(bot, "U0ALICE", f"stop {state.run_id}", "C0SUPPORT")
    assert stopped.startswith("Stopped: ")
    assert "ORD-3300" not in stopped
    assert (await bot.ended_run(RunId(state.run_id))).ending == "cancelled"


async def test_a_list_of_people_whom_slack_does_not_tell_lets_only_those_in_who_are_known(
    sandbox: OpenSandbox, tmp_path: Path
) -> None:
    named = People(users=("U0ALICE",), groups=("S0FINANCE",))
    agent = replace(refunds(), access=Access(steer=named))
    async with bot_in(sandbox, tmp_path, agent=agent) as bot:
        sandbox.faults.add(method="usergroups.users.list", error="internal_error", times=5)
        alice = await who_may(bot.services, Actor("U0ALICE", "T0PILOT"), "refunds", "steer")
        assert alice.principal == "slack:T0PILOT:U0ALICE"
        bob = Actor("U0BOB", "T0PILOT")
        with pytest.raises(CouldNotLookUp, match="who may say something to runs of"):
            await who_may(bot.services, bob, "refunds", "steer")
        assert (await who_may(bot.services, bob, "refunds", "stop")).user == "U0BOB"
        with pytest.raises(NotListed, match="there is no agent gone here"):
            await who_may(bot.services, bob, "gone", "stop")
