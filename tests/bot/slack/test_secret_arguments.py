"""A tool that takes a secret, from its call to its end: the tool has the real value, and neither Slack nor the log
is ever sent it."""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from agent import (
    Agent,
    ModelCall,
    ModelReply,
    Policy,
    ScriptedModel,
    Toolbox,
    ToolContext,
    ask_user,
    tool,
)
from agent.ports import ModelRequest
from agent.rules.transcript import ToolMessage, of_this_run
from bot.sandbox.opened import OpenSandbox
from bot.slack.ids import APPROVE, STEER, STEER_MODAL
from tests.bot.slack.workspace import Bot, Json, bot_in, drawing

SECRET = "hush-8472-value"
NEW = "other-5521-value"

#: What the tool was given, and what became of it is up to the first of it.
used: list[str] = []


def preview(vault: SecretStr, host: str) -> str:
    return f"opens {host} with {vault.get_secret_value()}"


@tool(title="Log in", effect="idempotent", timeout=5, preview=preview)
async def log_in(vault: SecretStr, host: str, context: ToolContext) -> dict[str, str]:
    """Log in."""
    word = vault.get_secret_value()
    used.append(word)
    context.progress(f"trying {word}")
    context.logger.warning("logging in with %s", word)
    if host == "down":
        raise ConnectionError(f"{word} was refused")
    return {"session": f"of {word}"}


def agent(host: str) -> Agent:
    call = ModelCall("m1", "log_in", json.dumps({"vault": SECRET, "host": host}))
    replies = [
        ModelReply(text=f"I shall use {SECRET}.", calls=(call,)),
        ModelReply(text=f"I am in with {SECRET}, not {NEW}."),
    ]
    rule = {
        "tool": "log_in",
        "action": "ask",
        "reason": "opens {args.host} with {args.vault}",
        "approvers": {"groups": ["S0FINANCE"]},
    }
    policy = Policy.model_validate({"rules": [rule]})
    return Agent("logins", ScriptedModel(replies), Toolbox([log_in]), policy)


@pytest.fixture
def host() -> str:
    return "web-1"


@pytest.fixture
async def drawn(sandbox: OpenSandbox, tmp_path: Path, host: str) -> AsyncIterator[Bot]:
    used.clear()
    async with bot_in(sandbox, tmp_path, agent=agent(host)) as connected, drawing(connected) as bot:
        yield bot


async def asked(drawn: Bot) -> Json:
    started = await drawn.say("U0ALICE", "<@U0PILOT> log in", "C0SUPPORT")

    def card() -> Json | None:
        thread = drawn.sandbox.messages("C0SUPPORT", started["ts"])
        return next((one for one in thread if "approval.approve" in str(one)), None)

    found = await drawn.sandbox.until(card, "the card")
    return {"channel": "C0SUPPORT", "ts": found["ts"]}


async def all_shown(drawn: Bot) -> Any:
    [state] = await drawn.runs()
    ended = await drawn.ended_run(state.run_id)

    async def is_shown() -> bool:
        return (await drawn.store.threads.known(ended.run_id)).shown_seq == ended.seq

    await drawn.sandbox.until(is_shown, "all of it is shown")
    return ended


async def test_an_approved_secret_reaches_the_tool_and_nobody_else(
    drawn: Bot, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO):
        card = await asked(drawn)
        assert "opens web-1 with ••••" in str(await drawn.message(card))
        await drawn.click("U0BOB", card, APPROVE)
        ended = await all_shown(drawn)
        await drawn.command("U0ALICE", f"journal {ended.run_id}")
        await drawn.whispered("U0ALICE", "What happened")
        await drawn.command("U0ALICE", f"status {ended.run_id}")
    assert used == [SECRET]
    assert "I am in with ••••••••(15 characters)" in str(drawn.sandbox.calls())
    assert SECRET in (ended.answer or "")
    log = caplog.text
    assert f"{ended.run_id} " in log
    assert f"logging in with ••••••••({len(SECRET)} characters)" in log
    told = json.dumps(drawn.sandbox.calls())
    assert SECRET not in told
    assert NEW in told  # Nobody said that this is one.
    assert SECRET not in log


class Remembering:
    """Logs in; asked again in the same conversation it quotes what it logged in with."""

    name = "remembering"

    async def reply(self, request: ModelRequest) -> ModelReply:
        own = of_this_run(request.messages)
        if any(isinstance(one, ToolMessage) for one in own):
            return ModelReply(text=f"I am in with {SECRET}.")
        tool, args = "log_in", {"vault": SECRET, "host": "web-1"}
        if len(own) < len(request.messages):
            tool, args = "ask_user", {"question": f"Shall I take {SECRET} again?"}
        return ModelReply(calls=(ModelCall("m1", tool, json.dumps(args)),))


async def test_one_of_a_run_before_is_shown_nowhere_either(
    sandbox: OpenSandbox, tmp_path: Path
) -> None:
    policy = Policy.model_validate({"rules": [{"tool": "log_in", "action": "allow"}]})
    quoting = Agent("logins", Remembering(), Toolbox([log_in, ask_user]), policy)
    async with bot_in(sandbox, tmp_path, agent=quoting) as connected, drawing(connected) as bot:
        begun = await bot.say("U0ALICE", "<@U0PILOT> log in", "C0SUPPORT")
        await all_shown(bot)
        await bot.say("U0ALICE", "<@U0PILOT> once more", "C0SUPPORT", begun["ts"])

        def is_asked() -> bool:
            return "Shall I take" in str(sandbox.messages("C0SUPPORT", begun["ts"]))

        await sandbox.until(is_asked, "the question is there")
        newest = (await bot.runs())[0]
        pending = (await bot.command("U0ALICE", "pending"))["response"]
        assert "Shall I take ••••" in str(pending)
        await bot.command("U0ALICE", f"journal {newest.run_id}")
        await bot.whispered("U0ALICE", "What happened")
        await bot.act("U0ALICE", "home")
        await sandbox.until(lambda: "Shall I take ••••" in str(sandbox.home("U0ALICE")), "the tab")
        await bot.say("U0ALICE", "yes", "C0SUPPORT", begun["ts"])
        await bot.ended_run(newest.run_id)
        await bot.command("U0ALICE", f"journal {newest.run_id}")
        await bot.whispered("U0ALICE", "I am in with ••••")
        assert SECRET not in json.dumps(sandbox.calls())


@pytest.mark.parametrize("host", ["down"])
async def test_a_form_keeps_what_it_does_not_show(
    drawn: Bot, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO):
        card = await asked(drawn)
        await drawn.click("U0BOB", card, STEER)
        await drawn.sandbox.until(lambda: drawn.view("U0BOB"), "the form")
        view = drawn.view("U0BOB")
        assert view is not None
        assert view["callback_id"] == STEER_MODAL
        assert "••••" in str(view)
        await drawn.submit("U0BOB", **{"arg.host": "down too"})
        await all_shown(drawn)
    assert used == [SECRET]


@pytest.mark.parametrize("host", ["down"])
async def test_what_a_tool_raises_tells_nothing(
    drawn: Bot, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO):
        card = await asked(drawn)
        await drawn.click("U0BOB", card, APPROVE)
        await all_shown(drawn)
    assert "ConnectionError: ••••••••(15 characters) was refused" in str(drawn.sandbox.calls())
    assert SECRET not in json.dumps(drawn.sandbox.calls())
    assert SECRET not in caplog.text


async def test_a_secret_that_was_changed_in_the_form_is_used_and_told_nobody(
    drawn: Bot, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO):
        card = await asked(drawn)
        await drawn.click("U0BOB", card, STEER)
        await drawn.sandbox.until(lambda: drawn.view("U0BOB"), "the form")
        before = len(drawn.sandbox.deliveries())
        await drawn.submit("U0BOB", **{"arg.vault": NEW})
        await all_shown(drawn)
    assert used == [NEW]
    # What Slack itself delivered when Bob typed it is Slack's.
    typed = json.dumps(drawn.sandbox.deliveries()[before:])
    assert NEW in typed
    told = json.dumps(drawn.sandbox.calls())
    for one in (SECRET, NEW):
        assert one not in told
        assert one not in caplog.text


async def test_who_pauses_a_run_is_not_told_the_secret_that_it_was_begun_with(drawn: Bot) -> None:
    text = f"log in with {SECRET}"
    started = await drawn.say("U0ALICE", f"<@U0PILOT> {text}", "C0SUPPORT")
    _, run = await drawn.waiting_run()
    assert run.prompt == text
    before = len(drawn.sandbox.calls())
    await drawn.say("U0ALICE", "pause", "C0SUPPORT", started["ts"])
    await drawn.whispered("U0ALICE", "Paused")
    await drawn.command("U0ALICE", "stop")
    assert SECRET not in json.dumps(drawn.sandbox.calls()[before:])
