"""The demo's agent asks, and does what it is told: its own policy, model and shop together."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent import Answer, Decider, Principal, Runtime
from bot.config import load_config
from bot.settings import DEMO_CONFIG
from store import open_store
from tests.store.files import with_tables

ALICE = Principal("slack:T0PILOT:U0ALICE")


@pytest.mark.parametrize(
    ("answer", "said", "ledger"),
    [
        ("$90", "Refund of $90.00 for ORD-3300 is complete.", {"ORD-3300": 90.0}),
        ("nothing at all", "Nothing was refunded: I find no amount in the answer.", {}),
    ],
)
async def test_a_refund_without_an_amount_is_asked_about(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    answer: str,
    said: str,
    ledger: dict[str, float],
) -> None:
    monkeypatch.setenv("PILOTHOUSE_DATA", str(tmp_path))
    store = await open_store(with_tables(tmp_path / "pilothouse.db"))
    try:
        runtime = Runtime(load_config(DEMO_CONFIG).agents, store)
        await runtime.start("refund ORD-3300", requester=ALICE, wait=True)
        ((question, _),) = await runtime.approvals()
        assert question.kind == "question"
        asks = Decider(ALICE, user="U0ALICE")
        state = await runtime.decide(question.id, Answer(answer), asks, wait=True)
        assert state.ending == "finished"
        assert (state.answer or "").startswith(said)
    finally:
        await store.close()
    books = tmp_path / "ledger.json"
    assert (json.loads(books.read_text()) if books.exists() else {}) == ledger
