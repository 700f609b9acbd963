"""The tools of the refunds agent. ``Payments`` stands for a payment system: put yours in its place."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from agent import Committed, Money, Rejected, ToolContext, tool

# Each order has one spelling: what was refunded is looked up by it.
Order = Annotated[str, Field(pattern=r"^ORD-(0|[1-9][0-9]*)$", max_length=40, title="Order")]
Amount = Annotated[Decimal, Field(gt=0, max_digits=12, title="Amount"), Money("USD")]


@dataclass(frozen=True, slots=True)
class Payments:
    """In a file. It keeps one refund an operation id, as good payment systems do: sent twice, it is made once."""

    file: Path

    def paid(self, order: str) -> Decimal:
        """What the customer paid. Raises ``Rejected`` where there is no such order."""
        number = int(order.removeprefix("ORD-"))
        if number == 0:
            raise Rejected(f"there is no order {order}")
        return Decimal(number % 2_000 or 2_000)

    def refunded(self, order: str) -> Decimal:
        """So far."""
        with self._locked() as refunds:
            return _of_order(refunds, order)

    def refund(self, operation_id: str, order: str, amount: Decimal) -> str:
        """Its id. Raises ``Rejected`` where that is more than is left."""
        with self._locked() as refunds:
            if operation_id not in refunds:
                left = self.paid(order) - _of_order(refunds, order)
                if amount > left:
                    raise Rejected(f"only ${left:,.2f} of {order} is left to refund")
                number = f"re_{len(refunds) + 1}"
                refunds[operation_id] = {"id": number, "order": order, "amount": f"{amount:.2f}"}
            return str(refunds[operation_id]["id"])

    @contextmanager
    def _locked(self) -> Iterator[dict[str, Any]]:
        """What is in it, and what it is left with is written back: any number of processes may use it."""
        with self.file.with_suffix(".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            refunds = json.loads(self.file.read_text()) if self.file.exists() else {}
            yield refunds
            new = self.file.with_suffix(".new")
            new.write_text(json.dumps(refunds, indent=1))
            new.replace(self.file)


def _of_order(refunds: dict[str, Any], order: str) -> Decimal:
    amounts = (Decimal(one["amount"]) for one in refunds.values() if one["order"] == order)
    return sum(amounts, Decimal())


def payments() -> Payments:
    """Beside the store."""
    return Payments(Path(os.environ.get("PILOTHOUSE_DATA", ".")) / "refunds.json")


@tool(title="Look up an order", approval=False, effect="read", timeout=10)
def look_up_order(order: Order) -> dict[str, str]:
    """What was paid for an order, and what of it was refunded.

    Args:
        order: The order's number, such as ORD-1250.
    """
    paid, refunded = payments().paid(order), payments().refunded(order)
    return {"order": order, "paid": f"{paid:.2f}", "refunded": f"{refunded:.2f}"}


def preview_refund(order: str, amount: Decimal) -> str:
    """What whoever decides is shown beside the values."""
    paid, refunded = payments().paid(order), payments().refunded(order)
    return f"{order}: ${paid:,.2f} paid, ${refunded:,.2f} refunded so far; ${amount:,.2f} would go back."


@tool(
    title="Refund an order",
    approval=True,
    effect="idempotent",
    preview=preview_refund,
    preview_must_match=True,
    timeout=10,
)
def process_refund(order: Order, amount: Amount, context: ToolContext) -> Committed:
    """Refund an order to the customer's card.

    Args:
        order: The order's number, such as ORD-1250.
        amount: How much to refund.
    """
    refund = payments().refund(context.operation_id, order, amount)
    output = {"refund": refund, "order": order, "amount": f"{amount:.2f}"}
    return Committed(output, external_id=refund)
