"""A call with a secret: the tool has its real value, and nothing that people or the model read shows it."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, SecretStr

from agent import Approve, Policy, Steer, ToolContext, tool
from agent.rules.rule import Rule
from agent.rules.transcript import ToolMessage
from bot.cli.asking import asked_in_short
from tests.agent.engine.bench import OPERATOR, bench, calls, says


class Login(BaseModel):
    user: str
    key: SecretStr


#: What it was called with.
used: list[str] = []


@tool(title="Log in", effect="idempotent")
def log_in(key: SecretStr, login: Login, password: str, context: ToolContext) -> str:
    """Log in."""
    used.append(f"{key.get_secret_value()} {login.key.get_secret_value()} {password}")
    return "in"


ARGS = '{"key": "s3cr3t-1", "login": {"user": "bob", "key": "s3cr3t-2"}, "password": "s3cr3t-3"}'
REASON = "uses {args.key}, {args.login} and {args.password}"
POLICY = Policy(rules=(Rule(tool="log_in", action="ask", reason=REASON),))


async def test_the_tool_has_the_real_value_and_no_reader_sees_it(tmp_path: Path) -> None:
    used.clear()
    replies = [calls(("log_in", ARGS)), says("done")]
    async with bench(tmp_path, [log_in], replies, POLICY) as b:
        state = await b.play()
        [(approval, _)] = await b.runtime.approvals()
        assert "s3cr3t" not in approval.requested.reason
        assert "bob" in approval.requested.reason
        assert "s3cr3t" not in asked_in_short(approval, state)
        await b.runtime.decide(approval.id, Approve(), OPERATOR)
        await b.work()
        assert used == ["s3cr3t-1 s3cr3t-2 s3cr3t-3"]
        assert (await b.runtime.state(state.run_id)).answer == "done"


async def test_a_secret_that_a_person_changed_is_not_told_to_the_model(tmp_path: Path) -> None:
    used.clear()
    replies = [calls(("log_in", ARGS)), says("done")]
    async with bench(tmp_path, [log_in], replies, POLICY) as b:
        await b.play()
        [(approval, _)] = await b.runtime.approvals()
        await b.runtime.decide(approval.id, Steer({"key": "n3w"}), OPERATOR)
        await b.work()
        assert used == ["n3w s3cr3t-2 s3cr3t-3"]
        told = b.model.requests[-1].messages[-1]
        assert isinstance(told, ToolMessage)
        assert "changed the arguments" in told.output
        assert "n3w" not in told.output
