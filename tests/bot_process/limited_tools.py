"""Tools whose calls can be limited, and some that can not."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated

from agent import Money, tool


@tool(approval=False)
def pay_dollars(
    amount: Annotated[Decimal, Money("USD")],
    note: str,
    to: list[str],
    fee: Annotated[Decimal, Money("EUR")],
) -> str:
    """Pay."""
    return "paid"


@tool(approval=False)
def pay_euros(amount: Annotated[Decimal, Money("EUR")] | None = None) -> str:
    """Pay."""
    return "paid"


@tool(approval=False)
def pay_anything(amount: Decimal, size: int | str = 1) -> str:
    """Pay."""
    return "paid"
