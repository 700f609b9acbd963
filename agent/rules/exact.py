"""Sums of amounts, in which no digit is lost."""

from __future__ import annotations

from decimal import Context, Decimal, Inexact, InvalidOperation, Overflow

#: Wide enough that no sum of amounts is ever rounded; what would be is refused.
EXACT = Context(prec=200, traps=[Inexact, InvalidOperation, Overflow])


def plus(used: Decimal, amount: Decimal) -> Decimal:
    return EXACT.add(used, amount)
