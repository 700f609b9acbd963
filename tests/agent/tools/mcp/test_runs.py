"""Runs whose calls go to a real server: what people are asked, what is sent, and what is known of it afterwards."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from agent import Agent, Approve, Policy, Rule, Runtime, Settle, Steer, Toolbox
from agent.errors import InvalidArgs
from agent.ports import ModelReply
from agent.rules.state import RunState
from agent.tools.mcp import server as module
from agent.tools.mcp.server import McpServer
from store import open_store
from tests.agent.engine.bench import ALICE, OPERATOR, InTurn, calls, says
from tests.agent.tools.mcp.notes import TEXT
from tests.agent.tools.mcp.world import notes, running, written
from tests.store.files import with_tables

pytestmark = pytest.mark.timeout(120)

ALLOWED = Policy(rules=(Rule(tool="notes.*", action="allow"),))


@asynccontextmanager
async def bot(
    folder: Path, replies: Sequence[ModelReply], policy: Policy | None = None, **more: Any
) -> AsyncIterator[tuple[Runtime, McpServer]]:
    """One process, with a server of its own."""
    async with running(notes(folder, **more)) as server:
        store = await open_store(with_tables(folder / "runs.db"))
        toolbox = Toolbox(servers=[server])
        agent = Agent("tester", InTurn(*replies), toolbox, policy or Policy())
        try:
            yield Runtime([agent], store), server
        finally:
            await store.close()


async def begun(runtime: Runtime) -> RunState:
    return await runtime.settle(await runtime.start("go", requester=ALICE))


def result_of(state: RunState) -> tuple[str, Any, str | None]:
    (call,) = state.calls.values()
    assert call.result is not None
    return call.result.outcome, call.result.output, call.receipt.status if call.receipt else None


ADD = calls(("notes.add_note", '{"text": "hello"}'))


async def test_it_is_asked_about_and_sent_as_it_was_steered(tmp_path: Path) -> None:
    async with bot(tmp_path, [ADD, says("noted")]) as (runtime, _):
        waiting = await begun(runtime)
        (asked,) = waiting.open_approvals
        assert asked.requested.title == "Add a note (notes.add_note)"
        assert asked.requested.args == {"text": "hello"}
        assert written(tmp_path) == ["started"]
        with pytest.raises(InvalidArgs) as wrong:
            await runtime.decide(asked.id, Steer(args={"text": 3}), OPERATOR)
        assert wrong.value.errors == {"text": "Enter a text."}
        steer = Steer(args={"text": "hello, world"})
        ended = await runtime.decide(asked.id, steer, OPERATOR, wait=True)
        if ended.open_approvals:
            (again,) = ended.open_approvals
            ended = await runtime.decide(again.id, Approve(), OPERATOR, wait=True)
        assert result_of(ended) == ("ok", "noted", "committed")
        assert await runtime.replay(ended.run_id) == []
    assert written(tmp_path) == ["started", "hello, world", "ended"]


async def test_what_has_changed_since_it_was_approved_is_asked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "FRESH", timedelta(0))
    async with bot(tmp_path, [ADD, says("noted")]) as (runtime, _):
        (asked,) = (await begun(runtime)).open_approvals
        longer = {**TEXT, "properties": {**TEXT["properties"], "to": {"type": "string"}}}
        (tmp_path / "tools.json").write_text(json.dumps({"add_note": {"inputSchema": longer}}))
        waiting = await runtime.decide(asked.id, Approve(), OPERATOR, wait=True)
        (again,) = waiting.open_approvals
        assert again.id != asked.id
        assert again.requested.again_because == "the tool has changed since it was approved"
        assert written(tmp_path) == ["started"]
        ended = await runtime.decide(again.id, Approve(), OPERATOR, wait=True)
        assert result_of(ended) == ("ok", "noted", "committed")
        assert await runtime.replay(ended.run_id) == []


async def test_a_no_of_the_server_is_a_result_and_its_end_amid_a_call_a_review(
    tmp_path: Path,
) -> None:
    vanish = calls(("notes.vanish", '{"text": "gone"}'))
    replies = [calls(("notes.refuse", "{}")), says("no"), vanish, says("gone"), ADD, says("there")]
    async with bot(tmp_path, replies, ALLOWED) as (runtime, _):
        refused = await begun(runtime)
        # It was carried out, and that is all that is known: it never runs again, and counts.
        assert result_of(refused) == ("error", "There is no room for it.", "committed")
        assert await runtime.replay(refused.run_id) == []

        lost = await begun(runtime)
        (review,) = lost.open_approvals
        assert review.kind == "review"
        (call,) = lost.calls.values()
        assert "did not say what became of it" in call.detail
        settled = await runtime.decide(review.id, Settle("happened"), OPERATOR, wait=True)
        assert settled.ending == "finished"

        # The next run finds it started anew.
        assert result_of(await begun(runtime)) == ("ok", "noted", "committed")
    assert written(tmp_path) == ["started", "gone", "started", "hello", "ended"]


async def test_one_that_died_while_nobody_called_it_leaves_no_doubt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "FRESH", timedelta(0))
    async with bot(tmp_path, [ADD, says("noted")], ALLOWED) as (runtime, _):
        os.kill(int((tmp_path / "pid").read_text()), signal.SIGKILL)
        assert result_of(await begun(runtime)) == ("ok", "noted", "committed")


async def test_one_that_cant_be_started_again_is_told_and_nothing_was_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with bot(tmp_path, [ADD, says("sorry")], ALLOWED) as (runtime, server):
        await server.stop()
        monkeypatch.setattr(module, "CONNECT_WITHIN", timedelta(0))
        outcome, output, receipt = result_of(await begun(runtime))
        assert (outcome, receipt) == ("error", "rejected")
        assert "The MCP server notes can't be reached: " in output
        assert output.endswith("Nothing was sent.")
