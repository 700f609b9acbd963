"""``/agent kill-switch``: who may turn one, what they are told, and what becomes of the runs."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agent import Policy
from agent.rules.control import SwitchRefused, SwitchTurned
from agent.rules.rule import People, Rule
from agent.rules.state import RunState
from bot.sandbox.opened import OpenSandbox
from bot.slack.cards.status import status_message
from bot.slack.ids import REASON_BLOCK, SWITCH_BLOCK, SWITCH_OFF, SWITCH_ON
from tests.bot.slack.agents import refunds
from tests.bot.slack.test_home import click, opened, seen
from tests.bot.slack.workspace import Bot, bot_in

POLICY = Policy(owners=People(groups=("S0FINANCE",)), rules=(Rule(tool="*", action="allow"),))


@pytest.fixture
async def bot(sandbox: OpenSandbox, tmp_path: Path) -> AsyncIterator[Bot]:
    async with bot_in(sandbox, tmp_path, agent=refunds(POLICY)) as connected:
        yield connected


async def told(bot: Bot, user: str, text: str) -> str:
    """What they are told of it, and nobody else is."""
    before = len(bot.whispers(user))
    await bot.command(user, text)
    return await bot.sandbox.until(
        lambda: next(iter(bot.whispers(user)[before:]), None), f"{user} is answered"
    )


async def turned(bot: Bot) -> list[tuple[str, str, bool]]:
    facts = [one.event for one in await bot.store.control.read()]
    return [
        (one.kind, one.switch, one.is_on)
        for one in facts
        if isinstance(one, SwitchTurned | SwitchRefused)
    ]


async def held_run(bot: Bot) -> RunState:
    async def found() -> RunState | None:
        return next((one for one in await bot.runs() if one.halts), None)

    return await bot.sandbox.until(found, "a run is held")


async def test_an_owner_holds_everything_and_lets_it_go_on(bot: Bot) -> None:
    said = await told(bot, "U0BOB", "kill-switch on all they are doubled")
    assert said.startswith("⏸ The kill switch is on for *everything*: nothing of it starts")
    await bot.command("U0ALICE", "refund ORD-3300 90")
    state = await held_run(bot)
    status = status_message(state)
    assert "Held: everything is switched off" in status.text
    shown = str(status.blocks)
    assert "<@U0BOB> switched off everything" in shown
    assert "they are doubled" in shown
    listed = await told(bot, "U0ALICE", "kill-switch status")
    assert listed.startswith("⏸ *everything* (`all`) by <@U0BOB>, ")
    assert (await told(bot, "U0FRANK", "kill-switch off")).startswith("▶︎ The kill switch is off")
    assert (await bot.ended_run(state.run_id)).ending == "finished"
    assert await told(bot, "U0ALICE", "kill-switch") == "No kill switch is on."


async def test_who_is_no_owner_is_told_who_is_and_that_is_recorded(bot: Bot) -> None:
    for _ in range(2):
        assert await told(bot, "U0ALICE", "kill-switch on all drill") == (
            "Nothing was switched: only <!subteam^S0FINANCE> can turn a kill switch."
        )
    assert "workspace" in await told(bot, "U0DAVE", "kill-switch on all drill")
    assert await turned(bot) == [("switch_refused", "all", True)]


@pytest.mark.parametrize("user", ["U0CAROL", "U0DAVE", "U0ERIN"])
async def test_who_may_not_see_what_there_is_is_not_told_by_a_try(bot: Bot, user: str) -> None:
    await told(bot, "U0BOB", "kill-switch on tool process_refund a leak")
    await told(bot, "U0BOB", "kill-switch on tool send_* another leak")
    for text in ("on nothing drill", "off nothing", "off", "on", "on all"):
        said = await told(bot, user, f"kill-switch {text}")
        assert said.startswith("Nothing was switched: "), text
        for secret in ("process_refund", "send_", "refunds", "leak", "say what", "say why"):
            assert secret not in said, text


async def test_a_failed_look_up_turns_nothing(bot: Bot) -> None:
    bot.sandbox.faults.add(method="usergroups.users.list", error="internal_error", times=5)
    said = await told(bot, "U0BOB", "kill-switch on all drill")
    assert "could not look up in Slack who may turn a kill switch" in said
    assert await turned(bot) == []


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("kill-switch on all", "Nothing was switched: say why"),
        ("kill-switch on", "Nothing was switched: say what"),
        ("kill-switch on proces_refund drill", "there is no agent and no tool 'proces_refund'"),
        ("kill-switch off all", "the kill switch for *everything* is off."),
        ("kill-switch off", "No kill switch is on."),
        ("kill-switch please", "Nothing was switched. `/agent kill-switch on all REASON`"),
    ],
)
async def test_what_turns_nothing_says_why(bot: Bot, text: str, says: str) -> None:
    assert says in await told(bot, "U0BOB", text)
    assert await turned(bot) == []
    assert await bot.runs() == []


async def test_where_several_are_on_it_has_to_be_said_which(bot: Bot) -> None:
    await told(bot, "U0BOB", "kill-switch on tool process_refund one")
    await told(bot, "U0BOB", "kill-switch on agent refunds two")
    globbed = await told(bot, "U0BOB", "kill-switch on tool process_* three")
    assert globbed.endswith("`tool:process_*`"), "it can be typed as it stands"
    said = await told(bot, "U0BOB", "kill-switch off")
    assert said.startswith("Nothing was switched: several are on, so say which.")
    assert "`tool:process_refund`" in said
    again = await told(bot, "U0FRANK", "kill-switch on agent refunds three")
    assert again.startswith(
        "Nothing was switched: the kill switch for *the agent refunds* is on since"
    )
    assert "<@U0BOB>" in again


async def test_owners_turn_it_in_their_home_tab(bot: Bot) -> None:
    assert "Kill switch" not in await opened(bot, "U0ALICE", "Your runs")
    await opened(bot, "U0BOB", "Nothing is switched off.")
    await click(bot, "U0BOB", SWITCH_ON)
    await bot.sandbox.until(lambda: bot.view("U0BOB"), "the form is open")
    refused = await bot.submit("U0BOB", **{SWITCH_BLOCK: "tool:process_refund", REASON_BLOCK: " "})
    assert refused["errors"] == {REASON_BLOCK: "Say why."}
    await bot.submit("U0BOB", **{SWITCH_BLOCK: "tool:process_refund", REASON_BLOCK: "a leak"})
    told = await seen(bot, "U0BOB", "a leak")
    assert "*process_refund* (`tool:process_refund`) by <@U0BOB>" in told
    assert await turned(bot) == [("switch_turned", "tool:process_refund", True)]
    await click(bot, "U0BOB", f"{SWITCH_OFF}:1")
    await seen(bot, "U0BOB", "The kill switch is off for *process_refund*")
    assert len(await turned(bot)) == 2


async def test_a_forged_click_turns_nothing(bot: Bot) -> None:
    await told(bot, "U0BOB", "kill-switch on all drill")
    await opened(bot, "U0BOB", "everything")
    home = bot.sandbox.inside.views.homes["U0BOB"]
    button = next(
        element
        for block in home["blocks"]
        for element in block.get("elements", [])
        if element.get("action_id") == f"{SWITCH_OFF}:1"
    )
    assert button["confirm"]["title"]["text"] == "Let it go on?"
    body = {"value": "tool:other"}
    await bot.act("U0BOB", "click", view_id=home["id"], action_id=f"{SWITCH_OFF}:1", **body)
    await seen(bot, "U0BOB", "there is no agent and no tool")
    assert [is_on for _, _, is_on in await turned(bot)] == [True]
