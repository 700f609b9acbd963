"""Tools in a module beside the file: whatever is wrong with one stops the start, in lines that say where."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.errors import ConfigError
from bot.config import load_config
from tests.bot_process.configs import refusal

HEAD = "from __future__ import annotations\nfrom agent import ToolContext, tool\n"


def config(*modules: str) -> str:
    return f"owners: {{users: [U1]}}\nagents:\n  helper:\n    model: demo\n    tools: [{', '.join(modules)}]\n"


def said_of(folder: Path, module: str, text: str) -> str:
    """What is said of a file that names this module, without the folder's name."""
    (folder / f"{module}.py").write_text(text)
    return refusal(folder, config(module)).replace(f"{folder}/", "")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("import nowhere_at_all\n", "No module named 'nowhere_at_all' (own_tools.py:1)."),
        ("\n\ndef f(:\n", "SyntaxError: invalid syntax (own_tools.py:3)."),
        ("x = 1\ny = 1 / 0\n", "ZeroDivisionError: division by zero (own_tools.py:2)."),
        ("import sys\nsys.exit(3)\n", "SystemExit: 3 (own_tools.py:2)."),
        ("import asyncio\nraise asyncio.CancelledError\n", "CancelledError (own_tools.py:2)."),
        ("raise StopIteration\n", "StopIteration (own_tools.py:1)."),
        (
            "import json\n\ndef read():\n    return json.loads('x')\n\nread()\n",
            "JSONDecodeError: Expecting value: line 1 column 1 (char 0) (own_tools.py:4).",
        ),
        (
            "class X(Exception):\n    def __str__(self):\n        return 5\nraise X\n",
            "X: (it can't be put into words: TypeError) (own_tools.py:4).",
        ),
        ("raise ValueError('one\\n  two')\n", "ValueError: one two (own_tools.py:1)."),
    ],
)
def test_whatever_an_import_raises_is_one_line_with_the_line_of_ones_own(
    tmp_path: Path, text: str, said: str
) -> None:
    found = said_of(tmp_path, "own_tools", text)
    assert found.startswith("5: agents.helper.tools[0]: own_tools can't be imported: ")
    assert found.endswith(said)
    assert "\n" not in found


def test_a_module_that_is_nowhere_is_named_with_where_it_was_looked_for(tmp_path: Path) -> None:
    said = refusal(tmp_path, config("own_missing"))
    assert said.endswith(f"there is no module own_missing, neither in {tmp_path} nor installed.")


def test_a_file_is_named_as_a_module(tmp_path: Path) -> None:
    (tmp_path / "own_file.py").write_text("")
    said = refusal(tmp_path, config("own_file.py"))
    assert said.endswith("can't be imported: a module is named without .py: own_file.")


def test_each_mistake_of_each_module_is_told_at_once(tmp_path: Path) -> None:
    (tmp_path / "own_first.py").write_text(
        f"{HEAD}\n@tool\ndef one(n: int) -> None: ...\n\n"
        '@tool(effect="idempotent")\ndef two(n) -> None:\n    """Do it."""\n'
    )
    (tmp_path / "own_second.py").write_text("1 / 0\n")
    lines = refusal(tmp_path, config("own_first", "own_second")).splitlines()
    first = f"5: agents.helper.tools[0]: {tmp_path}/own_first.py:"
    assert lines[:3] == [
        f"{first}4: The tool one needs a docstring: the model reads it.",
        f"{first}7: The tool two has the parameter n without a type; write n: str, say.",
        lines[2],
    ]
    assert lines[2].startswith(f"{first}7: The tool two is idempotent, and has no parameter")
    assert "own_second can't be imported: ZeroDivisionError" in lines[3]
    assert len(lines) == 4


def test_a_module_that_was_mended_is_read_anew(tmp_path: Path) -> None:
    said_of(tmp_path, "own_tools", f"{HEAD}\n@tool\ndef act() -> None: ...\n")
    (tmp_path / "own_tools.py").write_text(
        f'{HEAD}\n@tool\ndef act() -> None:\n    """Act, as is said now."""\n'
    )
    [agent] = load_config(tmp_path / "pilothouse.yml").agents
    assert [one.description for one in agent.toolbox.specs] == ["Act, as is said now."]


@pytest.mark.parametrize(
    ("name", "whose"), [("json", "a part of Python"), ("store", "a part of Pilothouse")]
)
def test_a_file_with_a_name_that_is_taken_is_named(tmp_path: Path, name: str, whose: str) -> None:
    said = said_of(tmp_path, name, f'{HEAD}\n@tool\ndef act() -> None:\n    """Act."""\n')
    assert f"{name}.py is not what {name} is: {whose} has that name" in said
    assert said.endswith("Give the file another name.")


def test_an_import_that_found_another_module_than_it_meant_says_which_files_could_be_it(
    tmp_path: Path,
) -> None:
    (tmp_path / "store.py").write_text("orders = {}\n")
    said = said_of(tmp_path, "own_tools", "from store import orders\n")
    assert "cannot import name 'orders' from 'store'" in said
    assert said.endswith("Beside it stands what has the name of a part of Pilothouse: store.")


def test_a_file_without_tools_is_named(tmp_path: Path) -> None:
    assert "The module own_tools has no @tool." in said_of(tmp_path, "own_tools", "x = 1\n")


def test_a_key_of_the_keyboard_is_no_mistake_of_the_module(tmp_path: Path) -> None:
    (tmp_path / "own_tools.py").write_text("raise KeyboardInterrupt\n")
    (tmp_path / "pilothouse.yml").write_text(config("own_tools"))
    with pytest.raises(KeyboardInterrupt):
        load_config(tmp_path / "pilothouse.yml")


def test_outside_of_a_file_it_is_raised_where_it_is_declared() -> None:
    from agent import tool

    def act(n: int) -> None: ...

    with pytest.raises(ConfigError, match=rf"{__file__}:\d+: The tool act needs a docstring"):
        tool(act)
