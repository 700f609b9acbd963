"""Whatever type a tool's argument has, a rule can speak of it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from pathlib import PurePosixPath
from typing import Any
from uuid import UUID

import pytest
from pydantic import SecretStr

from agent.rules.condition_values import readable
from agent.rules.conditions import Condition


class Size(Enum):
    LARGE = "large"


@pytest.mark.parametrize(
    ("value", "condition"),
    [
        (Decimal("5.50"), "args.x > 5"),
        (date(2026, 12, 1), "args.x == '2026-12-01'"),
        (time(9, 30), "args.x < '10:00'"),
        (datetime(2026, 12, 1, tzinfo=UTC), "args.x > timestamp('2026-11-30T00:00:00Z')"),
        (timedelta(hours=5), "args.x > duration('4h')"),
        (Size.LARGE, "args.x == 'large'"),
        (UUID(int=1), "args.x.endsWith('0001')"),
        (PurePosixPath("/srv"), "args.x == '/srv'"),
        ({"a"}, "'a' in args.x"),
        (frozenset({"a"}), "'a' in args.x"),
        ((SecretStr("hush"),), "args.x[0] == 'hush'"),
        ({Size.LARGE: [date(2026, 12, 1)]}, "args.x.large[0] == '2026-12-01'"),
        (None, "args.x == null"),
    ],
)
def test_a_condition_reads_it(value: Any, condition: str) -> None:
    values: Mapping[str, Any] = {"args": readable({"x": value})}
    assert Condition(condition).holds(values)
