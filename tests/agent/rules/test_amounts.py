"""How much of a budget can be meant, and how it is written."""

from __future__ import annotations

from decimal import Decimal

import pytest

from agent.rules.amounts import amount_in_digits, read_amount, why_no_amount
from agent.rules.parts import BudgetName


@pytest.mark.parametrize(
    ("written", "amount"),
    [("20", "20"), ("1.50", "1.50"), (" 3 ", "3"), ("007", "7"), ("9" * 40, "9" * 40)],
)
def test_a_number_is_read_as_people_write_it(written: str, amount: str) -> None:
    assert read_amount(written) == Decimal(amount)


@pytest.mark.parametrize(
    "written",
    [
        "",
        "0",
        "0.0",
        "-1",
        "+1",
        "1e3",
        "1_000",
        "1,5",
        ".5",
        "5.",
        "nan",
        "inf",
        "٣",
        "１",
        "1." + "9" * 21,
    ],
)
def test_nothing_else_is_a_number(written: str) -> None:
    assert read_amount(written) is None


@pytest.mark.parametrize(
    ("budget", "amount", "why"),
    [
        ("model_calls", "1000000", None),
        ("model_calls", "1000001", "Give at most 1,000,000."),
        ("tokens", "1.5", "Give a whole number."),
        ("tokens", "2.0", None),
        ("tokens", "1000000000001", "Give at most 1,000,000,000,000."),
        ("cost_usd", "0.000001", None),
        ("cost_usd", "0.0000001", "Give at most 6 decimal places."),
        ("cost_usd", "1000000.01", "Give at most 1,000,000."),
        ("minutes", "0.5000000", None),
        ("minutes", "0.1234567", "Give at most 6 decimal places."),
    ],
)
def test_what_there_can_not_be_of_it_is_said(
    budget: BudgetName, amount: str, why: str | None
) -> None:
    assert why_no_amount(budget, Decimal(amount)) == why


@pytest.mark.parametrize(
    ("budget", "amount", "digits"),
    [
        ("model_calls", "1E+2", "100"),
        ("tokens", "5.0", "5"),
        ("cost_usd", "5", "5.00"),
        ("cost_usd", "0.5", "0.50"),
        ("cost_usd", "0.0050", "0.005"),
        ("cost_usd", "0.000001", "0.000001"),
        ("minutes", "7.50", "7.5"),
        ("minutes", "1E+1", "10"),
    ],
)
def test_the_same_amount_is_the_same_text(budget: BudgetName, amount: str, digits: str) -> None:
    assert amount_in_digits(budget, Decimal(amount)) == digits
