"""docs/tools.md works as it stands there: the module and the file are copied, and the story is played."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

import pytest

from agent import ToolContext
from tests.cli.conftest import CommandLine

ROOT = Path(__file__).parents[2]
DOCS = (ROOT / "docs" / "tools.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", DOCS, re.S | re.M)


@pytest.fixture
def command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> CommandLine:
    (tmp_path / "warehouse.py").write_text(blocks("python")[0])
    (tmp_path / "pilothouse.yml").write_text(blocks("yaml")[0])
    made = CommandLine(tmp_path, monkeypatch, capsys)
    made.settings["PILOTHOUSE_CONFIG"] = str(tmp_path / "pilothouse.yml")
    return made


def test_what_it_has_one_type_can_be_typed(command_line: CommandLine) -> None:
    lines = "\n".join(blocks("sh")).splitlines()
    words = {
        match[1]: match[2]
        for line in lines
        if (match := re.match(r'pilothouse run "(use (\S+) [^"]*)"', line))
    }
    assert set(words.values()) == {"count_stock", "order_stock"}
    count, cheap, dear = words
    counted = command_line(*("run", count.replace("cup", "item=cup shelves=1")))
    assert counted.lines == [
        "run started",
        "running: count_stock: 1 of 1 shelves",
        "done: count_stock",
        "finished: count_stock cup 1: cup: 12",
    ]
    assert command_line.inside("run", cheap).code == 0
    asked = command_line.inside("run", dear)
    assert asked.code == 3
    assert "PAUSED for approval (an order of $540.00 is more than $100)" in asked.out
    [approval] = command_line.inside("approvals", "--json").json
    assert approval["preview"] == "90 × cup for $540.00, delivered on Monday"
    assert command_line.inside("steer", approval["id"], "--set", "count=10").code == 0
    orders = json.loads((command_line.folder / "orders.json").read_text())
    assert [(one["item"], one["count"]) for one in orders.values()] == [("cup", 3), ("cup", 10)]


def test_every_example_is_python_and_speaks_of_what_there_is(tmp_path: Path) -> None:
    for text in blocks("python"):
        ast.parse(
            re.sub(r"^(@tool.*)$(?!\n(?:async )?def|\n@)", r"\1\ndef act(): ...", text, flags=re.M)
        )
    for name in re.findall(r"\bcontext\.(\w+)", DOCS):
        assert hasattr(ToolContext, name) or name in ToolContext.__dataclass_fields__, name
