"""What the README shows works as it stands there."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import yaml

from bot.cli.main import app
from bot.config import load_config

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()


def blocks(language: str) -> list[str]:
    """The fenced blocks of a language, without the indentation of the list that they stand in."""
    found = re.findall(rf"^( *)```{language}\n(.*?)^ *```", README, re.S | re.M)
    return [re.sub(rf"^{indent}", "", text, flags=re.M) for indent, text in found]


def test_the_configuration_and_the_tools_that_it_shows_can_be_used(tmp_path: Path) -> None:
    (configuration,) = blocks("yaml")
    (tmp_path / "readme_shop_tools.py").write_text(blocks("python")[0])
    written = yaml.safe_load(configuration)
    written["agents"]["refunds"]["tools"] = ["readme_shop_tools"]
    path = tmp_path / "pilothouse.yml"
    path.write_text(yaml.safe_dump(written))
    (agent,) = load_config(path).agents
    assert [tool.name for tool in agent.toolbox] == ["search_policy", "process_refund"]


def test_the_script_without_slack_runs_to_its_end(tmp_path: Path) -> None:
    script = tmp_path / "own.py"
    script.write_text(blocks("python")[1])
    ran = subprocess.run(
        [sys.executable, str(script)], cwd=tmp_path, capture_output=True, text=True, timeout=50
    )
    assert (ran.stdout, ran.stderr) == ("Done.\n", "")


def test_its_table_has_every_command() -> None:
    commands = [
        command.callback.__name__ for command in app.registered_commands if command.callback
    ]
    listed = "\n".join(re.findall(r"^\|([^|]+)\|", README, re.M))
    names = [name.replace("_", "-") for name in (*commands, "db")]
    assert [name for name in names if not re.search(rf"`{name}\b", listed)] == []


def test_every_module_of_the_agent_has_its_room() -> None:
    house = (ROOT / "docs" / "architecture.md").read_text()
    modules = (path.relative_to(ROOT) for path in (ROOT / "agent").glob("[!_]*.py"))
    assert [str(path) for path in modules if f"`{path}`" not in house] == []
