"""The demo agent's tools."""

from __future__ import annotations

import asyncio
from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import Field

from agent import Committed, Money, ToolContext, tool
from bot.demo.shop import Shop
from bot.settings import data_folder

Order = Annotated[str, Field(pattern=r"^ORD-[0-9]+$", max_length=40, title="Order")]
Amount = Annotated[Decimal, Field(gt=0, max_digits=18, title="Amount"), Money("USD")]

POLICY = (
    "Orders can be refunded within 60 days. Refunds over $100 need a yes from finance. "
    "Where a refund is not possible, a voucher may be sent."
)


def shop() -> Shop:
    """The shop in this installation's data folder."""
    return Shop(data_folder())


@tool(title="Look up the policy", approval=False, effect="read", timeout=5)
async def search_policy(topic: Annotated[str, Field(max_length=200)]) -> dict[str, Any]:
    """Search the shop's policy.

    Args:
        topic: What to look for, such as "refunds".
    """
    await asyncio.to_thread(shop().open)
    return {"topic": topic, "policy": POLICY}


@tool(title="Check an order", approval=False, effect="read", timeout=5)
async def check_order(order: Order) -> dict[str, Any]:
    """Check an order with the warehouse; takes a second.

    Args:
        order: The order's number, such as ORD-3300.
    """
    await asyncio.sleep(1)
    return {"order": order, "state": "delivered"}


def preview_refund(order: str, amount: Decimal) -> str:
    """What a refund would do, in words."""
    before = shop().ledger().get(order, 0.0)
    return f"{order}: ${before:,.2f} refunded so far, ${amount:,.2f} would go back to the customer."


@tool(
    title="Refund an order",
    approval=True,
    effect="idempotent",
    preview=preview_refund,
    timeout=5,
)
async def process_refund(order: Order, amount: Amount, context: ToolContext) -> Committed:
    """Refund an order to the customer's card.

    Args:
        order: The order's number, such as ORD-3300.
        amount: How much to refund.
    """
    refund = await asyncio.to_thread(shop().refund, context.operation_id, order, amount)
    output = {"order": order, "amount": f"{amount:.2f}", "refund": refund}
    return Committed(output, external_id=refund)


@tool(title="Send a voucher", approval=True, effect="once", timeout=5)
async def send_voucher(
    order: Order,
    amount: Amount,
    context: ToolContext,
    line: Literal["steady", "shaky"] = "steady",
) -> Committed:
    """Send the customer a voucher by mail. It can't be taken back, and can't be looked up.

    Args:
        order: The order's number, such as ORD-3300.
        amount: What the voucher is worth.
        line: How good the connection to the mail gateway is.
    """
    voucher = await asyncio.to_thread(shop().send_voucher, context.operation_id, order, amount)
    if line == "shaky":
        raise ConnectionError("the mail gateway closed the connection before it answered")
    output = {"order": order, "amount": f"{amount:.2f}", "voucher": voucher}
    return Committed(output, external_id=voucher)
