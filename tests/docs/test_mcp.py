"""The page about MCP servers says all that there is, and its file can be used."""

from __future__ import annotations

import asyncio
import re
import runpy
from pathlib import Path

import pytest

from agent.tools.mcp import server, settings
from agent.tools.mcp.schemas import SIZE_LIMIT
from bot.config import load_config
from bot.config_mcp import WIRE_NAME_LIMIT, ServerEntry

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "mcp.md").read_text()


def test_each_key_is_told() -> None:
    assert set(re.findall(r"^\| `(\w+)` \|", PAGE, re.M)) == set(ServerEntry.model_fields)


def test_its_file_can_be_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (written,) = re.findall(r"^```yaml\n(.*?)^```", PAGE, re.S | re.M)
    file = tmp_path / "pilothouse.yml"
    file.write_text(written)
    config = load_config(file)
    assert [one.server.name for one in config.servers] == ["git", "tracker"]
    assert config.unknown_tools == ()


def test_its_figures_are_those_of_the_code() -> None:
    assert f"larger than {SIZE_LIMIT:,} characters" in PAGE
    assert f"of {WIRE_NAME_LIMIT}\n  characters" in PAGE
    assert server.START_WITHIN.total_seconds() == 30
    assert server.BACK_OFF_LIMIT.total_seconds() == 60
    assert settings.DEFAULT_TIMEOUT.total_seconds() == 60
    assert server.OPERATION_ID in PAGE


def test_the_server_that_it_shows_has_its_tools(tmp_path: Path) -> None:
    (text,) = re.findall(r"^```python\n(.*?)^```", PAGE, re.S | re.M)
    file = tmp_path / "notes_server.py"
    file.write_text(text)
    shown = runpy.run_path(str(file))
    tools = asyncio.run(shown["server"].list_tools())
    assert [one.name for one in tools] == ["read_notes", "add_note"]
    shown["add_note"]("buy milk")
    assert shown["read_notes"]() == "buy milk\n"
