"""examples/repository: reading is allowed, writing is asked about with what would be written."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from agent import Approve
from bot.demo.written_calls import calls_in
from tests.own_agents.playing import ALICE, BOB, EXAMPLES, playing

pytestmark = pytest.mark.timeout(120)


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """With a file that is not in it yet; and its server is found as the file names it."""
    folder = tmp_path / "scratch"
    folder.mkdir()
    git(folder, "init", "--quiet")
    git(folder, "config", "user.name", "A")
    git(folder, "config", "user.email", "a@example.com")
    (folder / "a.txt").write_text("hello\n")
    if (real := os.environ.get("MCP_SERVERS")) is None:
        program = tmp_path / "bin" / "mcp-server-git"
        program.parent.mkdir()
        script = shlex.quote(str(Path(__file__).with_name("git_server.py")))
        program.write_text(f"#!/bin/sh\nexec {shlex.quote(sys.executable)} {script}\n")
        program.chmod(0o755)
        real = str(tmp_path)
    monkeypatch.setenv("PATH", f"{real}/bin{os.pathsep}{os.environ['PATH']}")
    return folder


def git(folder: Path, *words: str) -> str:
    done = subprocess.run(("git", *words), cwd=folder, capture_output=True, check=True, text=True)
    return done.stdout


async def test_it_reads_as_it_likes_and_commits_what_was_seen(
    tmp_path: Path, repository: Path
) -> None:
    async with playing("repository", tmp_path) as play:
        (agent,) = play.runtime.agents.values()
        page = (EXAMPLES / "repository" / "README.md").read_text()
        written = [" ".join(one.split()) for one in re.findall(r"`/agent ([^`]+)`", page)]
        assert len(written) == 3
        assert [one for one in written if not calls_in(one, agent.toolbox.specs)] == []

        state = await play.ask(f"git.git_status {repository} then git.git_diff_staged {repository}")
        assert "a.txt" in (state.answer or "")
        state = await play.ask(f"git.git_add {repository} a.txt")
        assert "a.txt" in ((await play.asked(state.run_id)).requested.preview or "")
        await play.decide(state.run_id, Approve(), ALICE)

        state = await play.ask(f"git.git_commit {repository} say hello")
        first = await play.asked(state.run_id)
        assert "\n+hello" in (first.requested.preview or "")
        assert first.requested.reason == "it would be committed as say hello"
        # What they saw is not what would be committed any more.
        (repository / "a.txt").write_text("hello, world\n")
        git(repository, "add", "a.txt")
        state = await play.decide(state.run_id, Approve(), BOB)
        again = await play.asked(state.run_id)
        assert again.id != first.id
        assert "\n+hello, world" in (again.requested.preview or "")
        state = await play.decide(state.run_id, Approve(), BOB)
        assert state.ending == "finished"
    assert git(repository, "log", "--format=%s") == "say hello\n"
    assert git(repository, "show", "HEAD:a.txt") == "hello, world\n"
