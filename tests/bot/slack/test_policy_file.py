"""A policy file that could not be loaded, over the wire: those who own an agent see it in their Home."""

from __future__ import annotations

from pathlib import Path

from agent import Policy
from agent.engine.in_force import FileStanding, Refused
from agent.rules.rule import People
from bot.sandbox.opened import OpenSandbox
from tests.bot.slack.agents import refunds
from tests.bot.slack.test_home import NOTHING, opened
from tests.bot.slack.workspace import bot_in

WHY = "pilothouse.yml:5: policy[0].action: has to be allow, ask or deny."


async def test_owners_are_told_and_nobody_else(sandbox: OpenSandbox, tmp_path: Path) -> None:
    agent = refunds(Policy(owners=People(groups=("S0FINANCE",))))
    async with bot_in(sandbox, tmp_path, agent=agent) as bot:
        bot.runtime.agents.standing = FileStanding("pilothouse.yml", "d", None, Refused(WHY))
        assert WHY in await opened(bot, "U0BOB", "could not be loaded")
        assert WHY not in await opened(bot, "U0ALICE", NOTHING)
        bot.runtime.agents.standing = FileStanding("pilothouse.yml", "d")
        await bot.act("U0BOB", "home")

        def is_told_no_more() -> bool:
            return WHY not in str(bot.sandbox.inside.views.homes["U0BOB"])

        await bot.sandbox.until(is_told_no_more, "the Home says nothing of the file any more")
