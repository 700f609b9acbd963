"""Servers that others wrote are taken as they are, and what they say is understood.

``make test-mcp`` runs it, and nothing else does: the servers have to be fetched, and two of them need Node.
"""

from __future__ import annotations

import json
import logging
import os
import subprocess
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from agent.rules.judgement import InvalidCall
from agent.tools.context import Committed
from agent.tools.mcp.server import McpServer
from agent.tools.mcp.settings import ServerSettings
from tests.agent.tools.mcp.world import call, running

pytestmark = pytest.mark.timeout(180)
SERVERS = Path(os.environ["MCP_SERVERS"])
NODE = SERVERS / "node_modules" / ".bin"


@asynccontextmanager
async def server(
    name: str, program: Path, *arguments: str, environment: Mapping[str, str] | None = None
) -> AsyncIterator[McpServer]:
    command = (str(program), *arguments)
    settings = ServerSettings(
        name, command, environment=environment or {}, reads=("git_status", "read_*", "write_*")
    )
    async with running(McpServer(settings)) as one:
        yield one


def git(folder: Path, *words: str) -> str:
    who = ("-c", "user.name=A", "-c", "user.email=a@example.com")
    done = subprocess.run(("git", *who, *words), cwd=folder, capture_output=True, check=True)
    return done.stdout.decode()


async def test_git(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "config", "user.name", "A")
    git(tmp_path, "config", "user.email", "a@example.com")
    (tmp_path / "a.txt").write_text("one\n")
    here = {"repo_path": str(tmp_path)}
    program = SERVERS / "bin" / "mcp-server-git"
    async with server("git", program, "--repository", str(tmp_path)) as one:
        assert one.tools["git.git_status"].effect == "read"
        assert one.tools["git.git_commit"].effect == "once"
        assert one.tools["git.git_reset"].is_destructive
        assert "a.txt" in (await call(one, "git_status", **here)).output
        await call(one, "git_add", **here, files=["a.txt"])
        done = await call(one, "git_commit", **here, message="First of all")
        assert not done.is_error
        outside = await call(one, "git_status", repo_path="/")
        assert outside.is_error
        assert "outside" in outside.output
        with pytest.raises(InvalidCall, match="files: Enter a list"):
            await call(one, "git_add", **here, files="a.txt")
    assert git(tmp_path, "log", "--format=%s") == "First of all\n"


async def test_filesystem(tmp_path: Path) -> None:
    async with server("files", NODE / "mcp-server-filesystem", str(tmp_path)) as one:
        # The operator took it for a read; the server says that it is none.
        assert one.tools["files.write_file"].effect == "once"
        assert one.tools["files.read_text_file"].effect == "read"
        assert one.tools["files.write_file"].title == "Write File (files.write_file)"
        path = str(tmp_path / "a.txt")
        assert not (await call(one, "write_file", path=path, content="hello")).is_error
        assert (await call(one, "read_text_file", path=path)).output == {"content": "hello"}
        outside = await call(one, "read_text_file", path="/etc/passwd")
        assert outside.is_error
        assert "denied" in outside.output
        with pytest.raises(InvalidCall, match=r"edits: 0\.newText: This is needed"):
            await call(one, "edit_file", path=path, edits=[{"oldText": "hello"}])
    assert (tmp_path / "a.txt").read_text() == "hello"


async def test_everything(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    monkeypatch.setenv("SLACK_BOT_TOKEN", "xoxb-not-for-others")
    program = NODE / "mcp-server-everything"
    async with server("every", program, environment={"FOR_IT": "yes"}) as one:
        assert await call(one, "echo", message="hi") == Committed("Echo: hi")
        picture: Any = (await call(one, "get-tiny-image")).output
        assert "[image, image/png, " in picture
        weather = await call(one, "get-structured-content", location="Chicago")
        assert weather.output.keys() == {"temperature", "conditions", "humidity"}
        links = (await call(one, "get-resource-links", count=2)).output
        assert links.count("it was not fetched") == 2
        seen = json.loads((await call(one, "get-env")).output)
        assert seen["FOR_IT"] == "yes"
        assert "SLACK_BOT_TOKEN" not in seen
        slow = await call(one, "trigger-long-running-operation", duration=1, steps=2)
        assert not slow.is_error
    assert "MCP server every: 2 of 2" in caplog.messages
