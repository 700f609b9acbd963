"""Whether one condition holds wherever another does."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.rules.conditions import Condition
from agent.rules.implying import implies

_HOW = st.sampled_from([">", ">=", "<", "<=", "=="])
_NUMBERS = st.integers(-3, 3)


@pytest.mark.parametrize(
    ("narrow", "wide"),
    [
        ("args.amount > 1000", "args.amount > 100"),
        ("args.amount >= 100.5", "args.amount>100"),
        ("args.amount == 5", "args.amount >= 5"),
        ("args.a.b < -1", "args.a.b <= -1"),
        (" agent == 'a' ", "agent == 'a'"),
    ],
)
def test_what_is_over_a_thousand_is_over_a_hundred(narrow: str, wide: str) -> None:
    assert implies(narrow, wide)


@pytest.mark.parametrize(
    ("narrow", "wide"),
    [
        ("args.amount > 100", "args.amount > 1000"),
        ("args.amount >= 100", "args.amount > 100"),
        ("args.amount > 1000", "args.total > 100"),
        ("args.amount > 1000 || true", "args.amount > 100"),
        ("args.amount < 5", "args.amount > 1"),
        ("args.amount == 5", "args.amount == 6"),
        ("has(args.amount)", "args.amount > 1"),
    ],
)
def test_where_it_is_not_certain_it_does_not(narrow: str, wide: str) -> None:
    assert not implies(narrow, wide)


@given(_HOW, _NUMBERS, _HOW, _NUMBERS)
def test_it_is_so_exactly_where_no_number_shows_otherwise(
    how: str, number: int, other_how: str, other: int
) -> None:
    narrow, wide = f"args.x {how} {number}", f"args.x {other_how} {other}"
    values = [{"args": {"x": half / 2}} for half in range(-10, 11)]
    first, second = Condition(f"{narrow}.0"), Condition(f"{wide}.0")
    shown = all(second.holds(one) for one in values if first.holds(one))
    assert implies(narrow, wide) is shown
