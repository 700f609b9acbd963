"""examples/refunds: what is small goes through, what is larger waits for one person of finance, or for two."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent import Approve, Deny, Steer
from agent.errors import NotAllowed
from tests.own_agents.playing import ALICE, BOB, FRANK, playing


@pytest.fixture(autouse=True)
def _beside_the_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PILOTHOUSE_DATA", str(tmp_path))


def refunds(folder: Path) -> dict[str, str]:
    file = folder / "refunds.json"
    made = json.loads(file.read_text()).values() if file.exists() else ()
    return {one["order"]: one["amount"] for one in made}


async def test_up_to_100_dollars_are_paid_at_once(tmp_path: Path) -> None:
    async with playing("refunds", tmp_path) as play:
        state = await play.ask("look up order ORD-1250 then process_refund ORD-1250 99.50")
    assert state.answer == (
        "look_up_order ORD-1250: order: ORD-1250, paid: 1250.00, refunded: 0.00\n"
        "process_refund ORD-1250 99.5: refund: re_1, order: ORD-1250, amount: 99.50"
    )
    assert refunds(tmp_path) == {"ORD-1250": "99.50"}


async def test_above_it_finance_decides_and_whoever_asked_does_not(tmp_path: Path) -> None:
    async with playing("refunds", tmp_path) as play:
        state = await play.ask("refund ORD-3300 180")
        asked = await play.asked(state.run_id)
        assert asked.requested.reason == "refund $180.00 exceeds the $100 threshold"
        assert asked.requested.preview == (
            "ORD-3300: $1,300.00 paid, $0.00 refunded so far; $180.00 would go back."
        )
        with pytest.raises(NotAllowed):
            await play.decide(state.run_id, Approve(), ALICE)
        assert refunds(tmp_path) == {}
        steer = Steer(args={"order": "ORD-3300", "amount": "90"})
        state = await play.decide(state.run_id, steer, BOB)
        assert state.answer == "Refund of $90.00 for ORD-3300 is complete."
        assert [call.tool for call in state.calls.values()] == ["process_refund"]
        state = await play.ask("what can you do?")
    # Of the shop's phrases those that its tools can do, and its other tools by their names.
    help_ = (state.answer or "").splitlines()
    assert "• refund ORD-3300 180" in help_
    assert (
        "• `look_up_order ORDER`: What was paid for an order, and what of it was refunded." in help_
    )
    assert not any("voucher" in line or "check" in line for line in help_)
    assert refunds(tmp_path) == {"ORD-3300": "90.00"}


async def test_above_1000_dollars_two_people_decide(tmp_path: Path) -> None:
    async with playing("refunds", tmp_path) as play:
        state = await play.ask("refund ORD-3300 1,200")
        state = await play.decide(state.run_id, Approve(), BOB)
        assert refunds(tmp_path) == {}
        state = await play.decide(state.run_id, Approve(), FRANK)
        assert refunds(tmp_path) == {"ORD-3300": "1200.00"}
        state = await play.ask("refund ORD-3300 180")
        state = await play.decide(state.run_id, Approve(), BOB)
    assert state.answer is not None
    assert "only $100.00 of ORD-3300 is left to refund" in state.answer
    assert refunds(tmp_path) == {"ORD-3300": "1200.00"}


async def test_a_no_leaves_the_money_where_it_is(tmp_path: Path) -> None:
    async with playing("refunds", tmp_path) as play:
        state = await play.ask("refund ORD-3300 180")
        state = await play.decide(state.run_id, Deny("paid twice already"), BOB)
    assert state.answer is not None
    assert "Reason: paid twice already" in state.answer
    assert refunds(tmp_path) == {}


async def test_one_order_has_one_number(tmp_path: Path) -> None:
    async with playing("refunds", tmp_path) as play:
        state = await play.ask("process_refund ORD-7 7; process_refund ORD-07 7")
    first, second = state.calls.values()
    assert first.receipt is not None
    assert first.receipt.status == "committed"
    assert second.result is not None
    assert second.result.outcome == "refused"
    assert refunds(tmp_path) == {"ORD-7": "7.00"}
