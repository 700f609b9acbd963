"""No command shows a secret that is among a call's arguments."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from agent import Approve, GrantWish, Policy, ToolContext, tool
from tests.agent.engine.bench import OPERATOR, bench, calls, says
from tests.cli.conftest import CommandLine

SECRET = 'hush-8472"value'


@tool(effect="idempotent")
def log_in(vault: SecretStr, context: ToolContext) -> str:
    """Log in."""
    return f"in with {vault.get_secret_value()}"


async def tell_it(folder: Path) -> str:
    """A run that was asked about it, with a grant for exactly these arguments; its id."""
    rule: dict[str, Any] = {"tool": "log_in", "action": "ask", "grants": {"scopes": ["thread"]}}
    policy = Policy.model_validate({"rules": [rule]})
    replies = [calls(("log_in", json.dumps({"vault": SECRET}))), says(f"I used {SECRET}.")]
    async with bench(folder, [log_in], replies, policy) as b:
        state = await b.play()
        [(approval, _)] = await b.runtime.approvals()
        await b.runtime.decide(approval.id, Approve(grant=GrantWish("thread")), OPERATOR)
        await b.work()
        assert (await b.runtime.state(state.run_id)).answer == f"I used {SECRET}."
        return state.run_id


def test_no_command_shows_it(
    pilothouse: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = asyncio.run(tell_it(tmp_path))
    (tmp_path / "own_tools.py").write_text(
        "from pydantic import SecretStr\nfrom agent import ToolContext, tool\n\n"
        '@tool(effect="idempotent")\n'
        "def log_in(vault: SecretStr, context: ToolContext) -> str:\n"
        '    """Log in."""\n    return "in"\n'
    )
    (tmp_path / "own.yml").write_text(
        "owners: {users: [U1]}\nagents: {tester: {model: demo, tools: [own_tools]}}\n"
    )
    pilothouse.settings |= {
        "PILOTHOUSE_DATABASE_URL": f"sqlite:///{tmp_path / 'runs.db'}",
        "PILOTHOUSE_CONFIG": str(tmp_path / "own.yml"),
    }
    monkeypatch.syspath_prepend(str(tmp_path))
    for command in (
        ["show", run],
        ["show", run, "--json"],
        ["journal", run],
        ["journal", run, "--json"],
        ["journal", "--control"],
        ["journal", "--control", "--json"],
        ["watch", run, "--no-follow"],
        ["approvals", "--all"],
        ["approvals", "--all", "--json"],
        ["runs", "--json"],
    ):
        said = pilothouse.inside(*command)
        assert said.code == 0, (command, said.err)
        assert "hush" not in said.out + said.err, command
        assert run in said.out or "••••" in said.out, command
