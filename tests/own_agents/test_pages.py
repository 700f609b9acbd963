"""The pages under ``examples/`` say how each is started, and the demo's model understands what they write to it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from agent import Toolbox, tool
from agent.ports import ToolSpec
from agent.rules.transcript import UserMessage
from bot.config import load_config
from bot.demo.hearing import listen
from bot.demo.written_calls import calls_in
from tests.own_agents.playing import EXAMPLES

FOLDERS = sorted(path.parent for path in EXAMPLES.glob("*/pilothouse.yml"))
PAGE = (EXAMPLES / "README.md").read_text()


def is_understood(words: str, tools: tuple[ToolSpec, ...]) -> bool:
    names = frozenset(one.name for one in tools)
    return bool(calls_in(words, tools) or listen([UserMessage(words)], names).tasks)


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda one: one.name)
def test_each_example_says_how_it_is_started_and_what_to_write(folder: Path) -> None:
    page = (folder / "README.md").read_text()
    assert f"PILOTHOUSE_CONFIG=examples/{folder.name}/pilothouse.yml make run" in page
    assert f"]({folder.name}/README.md)" in PAGE
    assert len(page.splitlines()) <= 20
    (agent,) = load_config(folder / "pilothouse.yml").agents
    written = re.findall(r"`/agent ([^`]+)`", page)
    assert written
    if agent.toolbox.servers:
        return  # What their tools are is known once they run: see the example's own test.
    assert [
        one for one in written if not is_understood(" ".join(one.split()), agent.toolbox.specs)
    ] == []


@tool(effect="read")
def read_status(service: str) -> None:
    """Say what runs."""


@tool
def deploy(service: str, version: str) -> None:
    """Deploy."""


@tool
def note_down(text: str, tags: tuple[str, ...] = ()) -> None:
    """Write something down."""


def test_what_the_page_says_of_written_calls_is_so() -> None:
    tools = Toolbox([read_status, deploy, note_down]).specs
    cells = re.findall(r"^\| (`[^|]+`) \|", PAGE, re.M)
    written = [one for cell in cells for one in re.findall(r"`([^`]+)`", cell)]
    written.remove("two_processes.py")
    assert len(written) == 7
    assert [one for one in written if not calls_in(one, tools)] == []
