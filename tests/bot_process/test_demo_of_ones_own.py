"""``pilothouse demo`` with ``PILOTHOUSE_CONFIG``: agents of one's own, on the demo's Slack and store."""

from __future__ import annotations

import re
from pathlib import Path

import aiohttp

from tests.bot_process.test_demo import READY, running_demo, until

OWN = """
owners: {groups: [S0FINANCE]}
agents: {letters: {model: demo, tools: [own_letters]}}
policy:
  - {tool: write_to, action: allow}
"""
TOOLS = """
import os

from agent import tool

@tool
def write_to(name: str) -> str:
    '''Write to somebody.'''
    return f"written to {name} with {os.environ['OWN_PEN']}"
"""


async def test_it_shows_them_on_its_own_slack_and_store(tmp_path: Path) -> None:
    """What lies beside their file may name a real workspace and a real store: neither is used."""
    config = tmp_path / "own" / "pilothouse.yml"
    config.parent.mkdir()
    config.write_text(OWN)
    (config.parent / "own_letters.py").write_text(TOOLS)
    real = "SLACK_APP_TOKEN=xapp-real\nPILOTHOUSE_LISTEN_URL=postgresql://production/db\n"
    (config.parent / ".env").write_text(real)
    # What lies where the demo is started from is for its tools, too.
    (tmp_path / ".env").write_text("OWN_PEN=ink\n")
    async with (
        running_demo(tmp_path / "d", "--bots", "1", config=config) as demo,
        aiohttp.ClientSession() as session,
    ):
        (ready,) = await demo.until_said(READY)
        assert any(str(config) in line for line in demo.said)
        wish = {"as": "U0ALICE", "do": "command", "channel": "C0SUPPORT", "command": "/agent"}
        await session.post(f"{ready[1]}/sandbox/act", json={**wish, "text": "write_to Ada"})

        async def is_answered() -> bool:
            calls = await session.get(f"{ready[1]}/sandbox/calls")
            return "written to Ada with ink" in await calls.text()

        await until(is_answered)


async def test_all_that_is_wrong_with_them_is_said(tmp_path: Path) -> None:
    config = tmp_path / "pilothouse.yml"
    config.write_text(OWN.replace("model: demo", "modell: demo, colour: red"))
    async with running_demo(tmp_path / "d", "--bots", "1", config=config) as demo:
        _, errors = await demo.process.communicate()
    assert demo.process.returncode == 1
    said = errors.decode()
    assert re.search(r"Bot 1 can't be started: .*agents\.letters\.model: ", said)
    assert re.search(r"pilothouse\.yml:3: agents\.letters\.colour: there is no such key", said)
