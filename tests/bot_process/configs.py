"""A file that starts, and what is said of one that does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.errors import ConfigError
from bot.config import load_config

GOOD = """\
owners: {users: [U0OWNER]}
agents:
  helper: {model: demo, tools: [bot.demo.tools]}
"""


def limits(budget: str) -> str:
    """With an agent of this budget that reads only."""
    return GOOD.replace("bot.demo.tools", "agent.tools.asking").replace(
        "demo,", f"demo, budget: {budget},"
    )


def refusal(folder: Path, text: str) -> str:
    """What is said of this file."""
    file = folder / "pilothouse.yml"
    file.write_text(text)
    with pytest.raises(ConfigError) as refused:
        load_config(file)
    return str(refused.value).replace(f"{file}:", "")
