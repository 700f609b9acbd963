"""MCP servers in the file: what is taken, what is refused and where, and what is checked once they are known."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from agent import Committed, Toolbox, tool
from agent.errors import ConfigError
from agent.rules.ids import OperationId
from agent.tools.mcp.offered import Offered, all_taken
from agent.tools.mcp.said import clean
from agent.tools.mcp.settings import ServerSettings
from agent.tools.mcp.tool import McpTool
from bot.config import Config, load_config
from bot.config_mcp import ServerEntry, check_names, started
from bot.marked_yaml import MarkedYaml
from tests.agent.tools.mcp.notes import NOTHING, TOOLS
from tests.agent.tools.mcp.world import SCRIPT
from tests.bot_process.configs import refusal

pytestmark = pytest.mark.timeout(120)

FILE = """\
owners: {users: [U0OWNER]}
agents:
  helper:
    model: demo
    tools: [agent.tools.asking]
    mcp: {git: %s}
"""


def settings_of(written: dict[str, Any], **environment: str) -> Any:
    return ServerEntry.model_validate(written).settings("git", Path("/x"), environment)


def test_a_program_gets_what_is_named_and_runs_beside_the_file() -> None:
    written = {"command": ["mcp-server-git", "."], "env": ["A", "B"], "timeout": "2m"}
    found = settings_of(written, A="1", B="2", C="3")
    assert found.environment == {"A": "1", "B": "2"}
    assert (found.folder, found.timeout) == (Path("/x"), timedelta(minutes=2))
    assert (found.is_trusted, found.tools, found.reads) == (False, ("*",), ())


def test_secrets_of_an_address_come_from_variables_and_are_not_shown() -> None:
    written = {"url": "https://example.com/mcp", "token": "A", "headers": {"X-Key": "B"}}
    found = settings_of(written, A="secret-a", B="secret-b")
    assert found.headers == {"X-Key": "secret-b", "Authorization": "Bearer secret-a"}
    assert {"secret-a", "secret-b"} <= set(found.secrets)
    assert "secret" not in repr(found)


def test_what_stands_behind_the_question_mark_of_an_address_is_not_shown() -> None:
    found = settings_of({"url": "https://a.b/mcp?key=one%2Dsecret&v=2"})
    error = "401 for url 'https://a.b/mcp?key=one%2Dsecret&v=2' (key one-secret, v 2)"
    assert clean(error, found) == "401 for url 'https://a.b/mcp?••••••••' (key ••••••••, v 2)"
    assert "secret" not in repr(found)


WRONG = {
    "neither": ("{trusted: true}", "mcp.git: say how to start it"),
    "both": ("{command: [a], url: 'https://a.b'}", "mcp.git: say how to start it"),
    "a text": (
        "{command: mcp-server-git}",
        "command: has to be a list: [mcp-server-git, --repository, .]",
    ),
    "nothing to start": ("{command: []}", "command: name at least one"),
    "a secret": (
        "{url: 'https://a.b', token: 'Bearer ghp_x'}",
        "token: name an environment variable here, and put the value into that",
    ),
    "a secret of the program": ("{command: [a], env: ['A=secret']}", "env[0]: name an environment"),
    "env of an address": ("{url: 'https://a.b', env: [A]}", "env: goes with a command"),
    "a token of a program": ("{command: [a], token: A}", "token: goes with a url"),
    "no address": ("{url: 'example.com'}", "url: begins with http:// or https://"),
    "a secret in the address": ("{url: 'https://a:b@c.d'}", "url: holds no secret"),
    "a secret in the open": (
        "{url: 'http://a.b', token: A}",
        "url: has to be https:// where a secret",
    ),
    "no time": ("{command: [a], timeout: 0s}", "timeout: has to be longer than no time at all"),
    "another key": ("{command: [a], cwd: /}", "cwd: there is no such key"),
    "not trusted": ("{command: [a], trusted: maybe}", "trusted: has to be true or false"),
}


@pytest.mark.parametrize(("written", "told"), WRONG.values(), ids=WRONG.keys())
def test_what_cant_be_meant_is_told_where_it_stands(
    tmp_path: Path, written: str, told: str
) -> None:
    said = refusal(tmp_path, FILE % written)
    assert told in said
    assert said.startswith("6: agents.helper.mcp.git")
    assert "ghp_x" not in said
    assert "secret'" not in said


@pytest.mark.parametrize("name", ["a.b", "9", "gıt", "a" * 31])
def test_a_name_that_could_slip_out_of_a_rule_is_refused(tmp_path: Path, name: str) -> None:
    said = refusal(tmp_path, FILE.replace("git:", f"'{name}':") % "{command: [a]}")
    assert "the name of a server begins with a letter" in said


def test_two_that_differ_in_case_alone_are_refused(tmp_path: Path) -> None:
    said = refusal(tmp_path, FILE % "{command: [a]}, Git: {command: [b]}")
    assert "mcp.Git: it differs from git in case alone" in said


def test_a_secret_over_loopback_needs_no_encryption(tmp_path: Path) -> None:
    file = tmp_path / "pilothouse.yml"
    file.write_text(FILE % "{url: 'http://127.0.0.1:1/mcp', token: A}")
    assert len(load_config(file).servers) == 1


async def test_a_variable_that_is_not_set_is_named_by_its_key(tmp_path: Path) -> None:
    file = tmp_path / "pilothouse.yml"
    file.write_text(FILE % "{url: 'https://example.com', token: ghp_looks_like_a_name}")
    with pytest.raises(ConfigError) as refused:
        async with started(load_config(file).servers):
            pass
    assert "mcp.git.token: it names an environment variable that is not set" in str(refused.value)
    assert "ghp" not in str(refused.value)


SOME = ", tools: ['*_note*', free]"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("notes")
    offered = {**TOOLS, "free": {"inputSchema": {"type": "object"}}}
    (folder / "tools.json").write_text(json.dumps(offered))
    return folder


def known(file: Path, folder: Path, policy: str, more: str = "") -> Config:
    """With the real server, asked once."""
    command = json.dumps([sys.executable, str(SCRIPT), str(folder)])
    file.write_text(FILE % f"{{command: {command}{more}}}" + policy)
    return load_config(file)


async def checked(config: Config) -> list[str]:
    async with started(config.servers):
        return [one.message for one in config.check_tools()]


async def test_rules_are_checked_once_the_server_has_said_what_it_has(
    tmp_path: Path, folder: Path
) -> None:
    policy = (
        "policy:\n"
        "  - {tool: git.add_note, when: 'args.text == \"x\"', action: allow}\n"
        "  - {tool: git.add_notes, action: deny}\n"
        "  - {tool: 'git.*', action: ask}\n"
    )
    config = known(tmp_path / "pilothouse.yml", folder, policy, SOME)
    # By the file alone nobody can tell.
    assert config.unknown_tools == ()
    (message,) = await checked(config)
    assert "policy[1].tool: no agent has a tool git.add_notes; there are: ask_user, git." in message


async def test_an_argument_that_no_tool_of_it_has_stops_the_start(
    tmp_path: Path, folder: Path
) -> None:
    policy = "policy: [{tool: git.list_notes, when: args.page > 1, action: allow}]\n"
    config = known(tmp_path / "pilothouse.yml", folder, policy, SOME)
    with pytest.raises(ConfigError, match=r"policy\[0\].when: git.list_notes has no argument page"):
        await checked(config)


async def test_somebody_has_to_be_there_who_decides(tmp_path: Path, folder: Path) -> None:
    file = tmp_path / "pilothouse.yml"
    config = known(file, folder, "", SOME)
    file.write_text(file.read_text().replace("owners: {users: [U0OWNER]}", ""))
    config = load_config(file)
    with pytest.raises(ConfigError, match=r"git\.add_note may be asked .* nobody could decide it"):
        await checked(config)


def test_a_variable_may_stand_in_the_env_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PILOTHOUSE_CONFIG", raising=False)
    monkeypatch.setenv("B_KEY", "given")
    (tmp_path / ".env").write_text("A_KEY=written\nB_KEY=written\n")
    file = tmp_path / "pilothouse.yml"
    file.write_text(FILE % "{command: [a], env: [A_KEY, B_KEY]}")
    (placed,) = load_config(file).servers
    placed.check()
    assert placed.server.settings.environment == {"A_KEY": "written", "B_KEY": "given"}


@dataclass
class Known:
    """A server that has said what it has."""

    tools: dict[str, McpTool]
    name: str = "git"
    is_known: bool = True

    async def look_again(self) -> None:
        """It is as it was."""


@tool
def git__ADD() -> None:
    """Add."""


async def send(tool: McpTool, arguments: Any, operation_id: OperationId) -> Committed:
    raise AssertionError("nothing is sent here")


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("add", "can't tell git__ADD and git.add apart"),
        ("a" * 60, f"the tool git.{'a' * 60} has a longer name than models take"),
    ],
)
def test_a_tool_that_models_cant_be_told_of_is_refused(
    tmp_path: Path, name: str, told: str
) -> None:
    file = tmp_path / "pilothouse.yml"
    file.write_text(FILE % "{command: [a]}")
    offered = Offered(name, name, "", NOTHING)
    theirs = all_taken([offered], ServerSettings("git"), send)
    with pytest.raises(ConfigError, match=r"agents\.helper\.mcp: ") as refused:
        check_names(MarkedYaml(file), "helper", Toolbox([git__ADD], [Known(theirs)]))
    assert told in str(refused.value)
