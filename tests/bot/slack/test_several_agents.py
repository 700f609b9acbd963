"""Several agents in one bot: who answers where, and whose a thread is."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from agent import Agent, ModelReply, ScriptedModel, Toolbox
from agent.rules.access import Access
from agent.rules.rule import People
from agent.rules.state import RunState
from bot.sandbox.opened import OpenSandbox
from bot.slack.ids import AGENT_BLOCK, ASK_BLOCK, ASK_MODAL, RUN_HOLD
from tests.bot.slack.agents import asking, refunds
from tests.bot.slack.modals import sent_off
from tests.bot.slack.workspace import Bot, Json, bot_in, drawing

MENTION = "<@U0PILOT> "


def deploys() -> Agent:
    model = ScriptedModel([ModelReply(text="Deployed.") for _ in range(9)])
    return Agent(
        "deploys",
        model,
        Toolbox(),
        channels=("C0OPS",),
        access=Access(start=People(users=("U0ALICE",))),
    )


@pytest.fixture
async def several(sandbox: OpenSandbox, tmp_path: Path) -> AsyncIterator[Bot]:
    """Refunds by default, deploys in C0OPS, and one that is only asked by its name."""
    others = [deploys(), replace(asking("1", "2"), name="asks")]
    agent = replace(refunds(), is_default=True)
    async with bot_in(sandbox, tmp_path, agent=agent, others=others) as bot:
        yield bot


async def newest(bot: Bot) -> RunState:
    return (await bot.runs())[0]


async def told(bot: Bot, user: str, text: str, channel: str) -> str:
    response = (await bot.command(user, text, channel))["response"]
    return str(response["text"]) if response else ""


async def test_who_is_asked_by_a_command_a_mention_and_directly(several: Bot) -> None:
    bot = several
    await bot.command("U0ALICE", "web 1.2", "C0OPS")
    state = await newest(bot)
    assert (state.agent, state.prompt, state.channel) == ("deploys", "web 1.2", "C0OPS")
    await bot.command("U0ALICE", "DEPLOYS: web 1.3", "D0ALICE")
    state = await newest(bot)
    assert (state.agent, state.prompt) == ("deploys", "web 1.3")
    said = await bot.say("U0ALICE", f"{MENTION}Asks: how much?", "C0SUPPORT")
    state = await newest(bot)
    assert (state.agent, state.prompt) == ("asks", "how much?")
    # Of a message that is edited its agent's name is no part either.
    inside = bot.sandbox.inside
    message = inside.messages.read("C0SUPPORT", said["ts"])
    now = {**message, "text": f"{MENTION}asks: how many?", "edited": {"user": "U0ALICE", "ts": "1"}}
    event = inside.events.message_changed(inside.workspace.channels["C0SUPPORT"], now, message)
    assert (await inside.outbox.publish_and_wait([event])).reply.acknowledged
    assert "asks:" not in (await newest(bot)).prompt
    await bot.say("U0ALICE", "note: refund ORD-3300", "D0ALICE")
    state = await newest(bot)
    assert (state.agent, state.prompt) == ("refunds", "note: refund ORD-3300")

    nothing = "Nothing was started: "
    assert await told(bot, "U0ALICE", "deploys: web", "C0SUPPORT") == (
        f"{nothing}deploys answers in <#C0OPS>."
    )
    # Where agents answer is told to members.
    assert "guests can't start" in await told(bot, "U0CAROL", "deploys: web", "C0SUPPORT")
    only = f"{nothing}only <@U0ALICE> can start or retry runs of deploys."
    assert await told(bot, "U0BOB", "web 1.2", "C0OPS") == only
    await bot.say("U0BOB", "deploys: web 1.2", "D0BOB")
    await bot.whispered("U0BOB", only)
    assert "if you mean a run of yours, write just `stop`" in await told(
        bot, "U0ALICE", "refunds: stop", "C0SUPPORT"
    )
    assert len(await bot.runs()) == 4


async def test_help_and_lists_name_the_agents(several: Bot) -> None:
    bot = several
    for text in ("help", "refunds:"):
        said = await told(bot, "U0BOB", text, "C0SUPPORT")
        assert "• deploys, in <#C0OPS>: `/agent deploys: …`" in said
        assert "• refunds, wherever no other does:" in said
        assert "• asks, anywhere, by its name:" in said
    await bot.command("U0ALICE", "web 1.2", "C0OPS")
    assert " · deploys · started" in await told(bot, "U0ALICE", "runs", "C0OPS")
    assert " · deploys · started" in await told(bot, "U0ALICE", "status", "C0OPS")
    await bot.act("U0ALICE", "home")
    home = await bot.sandbox.until(lambda: bot.sandbox.home("U0ALICE"), "the Home tab is there")
    assert "· deploys · started" in str(home)


async def test_the_status_names_its_agent_and_a_thread_stays_with_it(several: Bot) -> None:
    bot = several
    async with drawing(bot):
        await bot.command("U0ALICE", "web 1.2", "C0OPS")
        state = await bot.ended_run((await newest(bot)).run_id)
        (root,) = bot.sandbox.messages("C0OPS")
        assert "deploys · for <@U0ALICE>" in str(root["blocks"])
        # Another one is not asked in its thread, also by whoever took part there.
        stays = "Nothing was done: this conversation is with deploys, and stays with it. To ask refunds, write"
        for number, text in enumerate(("refunds: ORD-3300", f"{MENTION}Refunds: ORD-3300"), 1):
            await bot.say("U0ALICE", text, "C0OPS", root["ts"])

            def is_told(number: int = number) -> bool:
                return len([one for one in bot.whispers("U0ALICE") if stays in one]) == number

            await bot.sandbox.until(is_told, "they are told whose the thread is")
        assert [one.run_id for one in await bot.runs()] == [state.run_id]
        # Its own name is no part of what it is told.
        await bot.say("U0ALICE", "Deploys: now web 1.3", "C0OPS", root["ts"])
        state = await newest(bot)
        assert (state.agent, state.prompt) == ("deploys", "now web 1.3")


async def test_a_status_that_a_click_redraws_names_its_agent_too(several: Bot) -> None:
    bot = several
    async with drawing(bot):
        said = await bot.say("U0ALICE", f"{MENTION}asks: how much?", "C0SUPPORT")

        def status() -> Json | None:
            thread = bot.sandbox.messages("C0SUPPORT", said["ts"])
            found = (one for one in thread if RUN_HOLD in str(one))
            return next(({"channel": "C0SUPPORT", "ts": one["ts"]} for one in found), None)

        await bot.click("U0ALICE", await bot.sandbox.until(status, "the status"), RUN_HOLD)
        await bot.services.answering.drain(5)
        [redrawn] = [str(one["arguments"]) for one in bot.sandbox.calls("response_url")]
        assert "asks · for <@U0ALICE>" in redrawn


async def shortcut(bot: Bot, user: str, channel: str) -> Json:
    said = await bot.say("U0BOB", "Two parcels, one order.", channel)
    await bot.act(user, "shortcut", callback_id=ASK_MODAL, channel=channel, ts=said["ts"])
    view: Json = await bot.sandbox.until(lambda: bot.view(user), "the modal is open")
    return view


def choice(view: Json) -> list[str]:
    block = next(one for one in view["blocks"] if one.get("block_id") == AGENT_BLOCK)
    assert block["element"]["initial_option"] == block["element"]["options"][0]
    return [one["value"] for one in block["element"]["options"]]


async def test_the_shortcut_lets_one_choose_among_those_whom_one_may_ask_there(
    several: Bot,
) -> None:
    bot = several
    view = await shortcut(bot, "U0ALICE", "C0OPS")
    assert choice(view) == ["deploys", "refunds", "asks"]
    await bot.submit("U0ALICE", **{ASK_BLOCK: "sum it up", AGENT_BLOCK: "asks"})
    state = await bot.sandbox.until(lambda: bot.runs(), "it has begun")
    assert [one.agent for one in state] == ["asks"]

    view = await shortcut(bot, "U0BOB", "C0OPS")
    assert choice(view) == ["refunds", "asks"]
    typed = {"type": "plain_text_input", "value": "sum it up"}
    forged = {"type": "static_select", "selected_option": {"value": "deploys"}}
    values = {ASK_BLOCK: {"value": typed}, AGENT_BLOCK: {"value": forged}}
    assert "deploys can't be asked by you here" in await sent_off(
        bot, "U0BOB", {**view, "state": {"values": values}}
    )
    assert len(await bot.runs()) == 1
