"""examples/pydantic_ai_toolset: a toolset that knows nothing of us is asked about, and runs, as it is."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agent import Approve, Deny, Steer
from tests.own_agents.playing import BOB, playing


@pytest.fixture
def warehouse() -> Callable[[], Any]:
    """What its tools have done; each test begins with a full one."""
    for module in ("warehouse_toolset", "warehouse_tools"):
        sys.modules.pop(module, None)
    return lambda: sys.modules["warehouse_tools"].tools.get("count").function.deps


async def test_a_rule_lets_calls_run_and_what_comes_back_is_told(
    tmp_path: Path, warehouse: Callable[[], Any]
) -> None:
    async with playing("pydantic_ai_toolset", tmp_path) as play:
        state = await play.ask("count SKU-1 then order SKU-1 5")
    assert state.answer == "count SKU-1: 12\norder SKU-1 5: 5 of SKU-1 are on their way"
    (order,) = [call for call in state.calls.values() if call.tool == "order"]
    assert warehouse().orders == {order.operation_id: ("SKU-1", 5)}


async def test_what_wants_a_yes_is_asked_and_can_be_steered(
    tmp_path: Path, warehouse: Callable[[], Any]
) -> None:
    async with playing("pydantic_ai_toolset", tmp_path) as play:
        state = await play.ask("order SKU-1 500")
        asked = await play.asked(state.run_id)
        assert (asked.requested.title, asked.requested.reason) == (
            "Order more",
            "500 are more than 20",
        )
        steer = Steer(args={"sku": "SKU-1", "number": "400"})
        state = await play.decide(state.run_id, steer, BOB)
        assert "400 of SKU-1 are on their way" in (state.answer or "")
        state = await play.ask("send sku=SKU-1 city=Bern")
        state = await play.decide(state.run_id, Approve(), BOB)
        assert state.answer == "send SKU-1 Bern: left: 11"
        state = await play.ask("send sku=SKU-1 city=Bern")
        state = await play.decide(state.run_id, Deny(), BOB)
    assert warehouse().stock["SKU-1"] == 11


async def test_a_tools_own_no_is_told_and_nothing_happened(
    tmp_path: Path, warehouse: Callable[[], Any]
) -> None:
    async with playing("pydantic_ai_toolset", tmp_path) as play:
        state = await play.ask("count SKU-9")
        assert state.answer == "count SKU-9: there is no SKU-9; there are: SKU-1, SKU-2"
        state = await play.ask("send sku=SKU-2 city=Bern")
        state = await play.decide(state.run_id, Approve(), BOB)
        assert state.answer == "send SKU-2 Bern: SKU-2 is sold out"
        (call,) = state.calls.values()
        assert call.result is not None
        assert call.result.outcome == "error"
        state = await play.ask("send sku=SKU-1 city=Bern speed=warp")
        assert "It must be 'slow' or 'fast'." in (state.answer or "")
