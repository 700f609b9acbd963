"""The demo's agent on a model of a provider's: its run waits for a person, and another process goes on with it."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from decimal import Decimal
from pathlib import Path

import pytest

from agent import Approve, Runtime
from agent.errors import Blocked
from agent.rules.events import ModelReplied
from agent.rules.shapes import run_shape
from bot.config import load_config
from bot.demo.shop import Shop
from bot.settings import DEMO_CONFIG
from store import open_store
from tests.agent.engine.bench import ALICE, OPERATOR
from tests.models.conversing import CLAUDE, asked_of_a_stand_in
from tests.models.standin import anthropic, streams
from tests.store.files import with_tables

pytestmark = pytest.mark.timeout(180)

LOOKS = ("search_policy", '{"topic": "refunds"}', "toolu_1")
REFUNDS = ("process_refund", '{"order": "ORD-3300", "amount": 180}', "toolu_2")
DONE = "Refund of $180.00 for ORD-3300 is complete."


@asynccontextmanager
async def process(folder: Path) -> AsyncIterator[Runtime]:
    """One process with the demo's agents on ``CLAUDE``."""
    config = load_config(DEMO_CONFIG, model=CLAUDE)
    store = await open_store(with_tables(folder / "runs.db"))
    try:
        yield Runtime(config.agents, store)
    finally:
        await store.close()


async def test_a_refund_by_a_real_engine_and_a_providers_wire(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PILOTHOUSE_DATA", str(tmp_path))
    async with asked_of_a_stand_in(monkeypatch) as stand_in:
        stand_in.will(
            streams(anthropic("", LOOKS)),
            streams(anthropic("On it.", REFUNDS, thought="Within the policy.")),
            streams(anthropic(DONE)),
        )
        async with process(tmp_path) as first:
            run_id = await first.start("refund ORD-3300 180", requester=ALICE)
            waiting = await first.settle(run_id)
            (asked,) = waiting.open_approvals
            assert asked.requested.args == {"order": "ORD-3300", "amount": 180}
            assert Shop(tmp_path).ledger() == {}
        async with process(tmp_path) as second:
            ended = await second.decide(asked.id, Approve(), OPERATOR, wait=True)
            journal = await second.store.journal.read(run_id)
            assert await second.replay(run_id) == []
    assert (ended.ending, ended.answer, Shop(tmp_path).ledger()) == (
        "finished",
        DONE,
        {"ORD-3300": 180.0},
    )
    replies = [one.event for one in journal if isinstance(one.event, ModelReplied)]
    told = [(one.model, one.usage.cost_usd) for one in replies]
    assert told == [(CLAUDE, Decimal("0.003"))] * 3
    usage = {"model_calls": 3, "input_tokens": 3_000, "output_tokens": 300, "cost_usd": 0.009}
    assert run_shape(ended, now=ended.updated_at)["usage"] == usage
    # The other process told the model all of it, with what that wanted to have back.
    *_, itself, result = stand_in.asked[-1]["messages"]
    assert [one["type"] for one in itself["content"]] == ["thinking", "text", "tool_use"]
    assert itself["content"][0]["signature"] == "signed-thought"
    assert "180.00" in json.dumps(result)


async def test_a_key_that_is_gone_blocks_the_run_and_fails_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PILOTHOUSE_DATA", str(tmp_path))
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    async with process(tmp_path) as runtime:
        run_id = await runtime.start("refund ORD-3300 180", requester=ALICE)
        with pytest.raises(Blocked, match="needs ANTHROPIC_API_KEY") as blocked:
            await runtime.settle(run_id)
        state = await runtime.state(run_id)
        shown = await runtime.blocked(state)
    assert blocked.value.code == "no_credentials"
    assert shown == {
        "code": "no_credentials",
        "message": str(blocked.value),
        "fix": "Set it in the environment or in .env, and start again.",
    }
    assert (state.ending, state.seq) == (None, 1)
