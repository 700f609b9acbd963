"""The demo's agent asks, and does what it is told: its own policy, model and shop together."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from agent import Answer, Approve, Decider, GrantWish, Principal, Runtime
from agent.rules.ids import SessionId
from bot.config import load_config
from bot.demo.model import HELP
from bot.settings import DEMO_CONFIG
from bot.slack.cards.together import shared_cards
from store import open_store
from tests.store.files import with_tables

ALICE = Principal("slack:T0PILOT:U0ALICE")
BOB = Decider(Principal("slack:T0PILOT:U0BOB"), "U0BOB", frozenset({"S0FINANCE"}))


@asynccontextmanager
async def the_demo(
    folder: Path, monkeypatch: pytest.MonkeyPatch, config: Path = DEMO_CONFIG
) -> AsyncIterator[Runtime]:
    monkeypatch.setenv("PILOTHOUSE_DATA", str(folder))
    store = await open_store(with_tables(folder / "pilothouse.db"))
    try:
        yield Runtime(load_config(config).agents, store)
    finally:
        await store.close()


@pytest.mark.parametrize(
    ("answer", "said", "ledger"),
    [
        ("$90", "Refund of $90.00 for ORD-3300 is complete.", {"ORD-3300": 90.0}),
        ("nothing at all", "Nothing was refunded, as I was told: nothing at all", {}),
    ],
)
async def test_a_refund_without_an_amount_is_asked_about(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    answer: str,
    said: str,
    ledger: dict[str, float],
) -> None:
    async with the_demo(tmp_path, monkeypatch) as runtime:
        await runtime.start("refund ORD-3300", requester=ALICE, wait=True)
        ((question, _),) = await runtime.approvals()
        assert question.kind == "question"
        asks = Decider(ALICE, user="U0ALICE")
        state = await runtime.decide(question.id, Answer(answer), asks, wait=True)
        assert state.ending == "finished"
        assert (state.answer or "").startswith(said)
    books = tmp_path / "ledger.json"
    assert (json.loads(books.read_text()) if books.exists() else {}) == ledger


async def test_a_dry_run_of_it_moves_no_money_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dry = tmp_path / "pilothouse.yml"
    marked = DEMO_CONFIG.read_text().replace("default: true", "default: true\n    dry_run: true")
    dry.write_text(marked)
    async with the_demo(tmp_path, monkeypatch, dry) as runtime:
        await runtime.start("refund ORD-3300 180", requester=ALICE, wait=True)
        ((asked, _),) = await runtime.approvals()
        assert asked.requested.preview
        state = await runtime.decide(asked.id, Approve(), BOB, wait=True)
    assert state.answer == (
        "The refund of $180.00 for ORD-3300 would have been made. This is a dry run: nothing was done."
    )
    assert not (tmp_path / "ledger.json").exists()


async def test_several_calls_of_one_reply_share_a_card_where_they_are_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (words,) = [line for line in HELP.splitlines() if "on one card" in line]
    prompt = words.removeprefix("• ").partition(" (")[0]
    async with the_demo(tmp_path, monkeypatch) as runtime:
        run_id = await runtime.start(prompt, requester=ALICE, wait=True)
        (card,) = shared_cards(await runtime.state(run_id))
        assert len(card.pending) == 2
        for one in card.pending:
            state = await runtime.decide(one.id, Approve(), BOB, wait=True)
        assert state.ending == "finished"
    books = json.loads((tmp_path / "ledger.json").read_text())
    assert books == {"ORD-1": 150.0, "ORD-2": 180.0, "ORD-3": 20.0}


async def test_vouchers_may_be_allowed_beforehand_and_then_nobody_is_asked_in_the_thread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = SessionId("a thread")
    async with the_demo(tmp_path, monkeypatch) as runtime:
        await runtime.start("voucher ORD-7 20", requester=ALICE, session=session, wait=True)
        ((asked, _),) = await runtime.approvals()
        wish = GrantWish("thread", any_arguments=True)
        await runtime.decide(asked.id, Approve(grant=wish), BOB, wait=True)
        again = await runtime.start("voucher ORD-8 20", requester=ALICE, session=session, wait=True)
        assert (await runtime.state(again)).ending == "finished"
        assert len(await runtime.grants()) == 1


async def test_what_is_said_while_a_call_waits_is_done_and_answered_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with the_demo(tmp_path, monkeypatch) as runtime:
        run_id = await runtime.start("refund ORD-3300 180", requester=ALICE, wait=True)
        await runtime.steer(run_id, "and refund ORD-1 20 too", ALICE)
        await runtime.steer(run_id, "how lovely it is today", ALICE)
        ((asked, _),) = await runtime.approvals()
        state = await runtime.decide(asked.id, Approve(), BOB, wait=True)
    assert state.answer == (
        "Refund of $180.00 for ORD-3300 is complete.\n"
        "Refund of $20.00 for ORD-1 is complete.\n"
        "I did not understand “how lovely it is today”, and changed nothing for it."
    )
