"""The demo's shop: one record an operation id, whoever asks at the same time."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from pathlib import Path

from bot.demo.shop import Shop


def test_the_same_operation_is_done_once(tmp_path: Path) -> None:
    shop = Shop(tmp_path)
    shop.open()
    assert json.loads((tmp_path / "ledger.json").read_text()) == {}
    first = shop.refund("op_1", "ORD-1", Decimal("180"))
    assert shop.refund("op_1", "ORD-1", Decimal("180")) == first
    assert shop.refund("op_2", "ORD-1", Decimal("20.50")) != first
    assert json.loads((tmp_path / "ledger.json").read_text()) == {"ORD-1": 200.5}


def test_many_at_once_lose_nothing(tmp_path: Path) -> None:
    shop = Shop(tmp_path)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: shop.refund(f"op_{n % 20}", "ORD-1", Decimal(1)), range(60)))
    assert shop.ledger() == {"ORD-1": 20.0}
