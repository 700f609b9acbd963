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
from tests.agent.rules.judging import policy, subject


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


@pytest.mark.parametrize("written", ["100.0000000000000000001", "1E+999", "0.10000000000000000001"])
def test_a_number_that_would_be_rounded_is_asked_about(written: str) -> None:
    rules = policy(
        {"tool": "*", "when": "args.x > 100", "action": "deny"}, {"tool": "*", "action": "allow"}
    )
    verdict = rules.judge(subject(x=Decimal(written)))
    assert verdict.action == "ask"
    assert verdict.reason.endswith("a number has more digits than a condition can compare")


@pytest.mark.parametrize("written", ["100.01", "100.10", "123456789012.34", "0.1", "-0", "1E+2"])
def test_amounts_of_money_are_not(written: str) -> None:
    assert readable(Decimal(written)) == Decimal(written)
