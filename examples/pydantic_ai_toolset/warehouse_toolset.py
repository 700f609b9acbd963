"""A toolset that was there before: written for Pydantic AI, and knowing nothing of Pilothouse."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Literal

from pydantic import BaseModel, Field
from pydantic_ai import ApprovalRequired, FunctionToolset, ModelRetry, RunContext, ToolFailed


@dataclass
class Warehouse:
    """What its functions are given as ``deps``."""

    stock: dict[str, int] = field(default_factory=lambda: {"SKU-1": 12, "SKU-2": 0})
    #: By the id of the call that ordered it: the same call orders once.
    orders: dict[str, tuple[str, int]] = field(default_factory=dict)


class Parcel(BaseModel):
    """Where to, and how fast."""

    sku: str
    city: str
    speed: Literal["slow", "fast"] = "slow"


warehouse: FunctionToolset[Warehouse] = FunctionToolset()


@warehouse.tool
def count(ctx: RunContext[Warehouse], sku: str) -> int:
    """How many there are.

    Args:
        ctx: The run.
        sku: What to count, such as SKU-1.
    """
    if sku not in ctx.deps.stock:
        raise ModelRetry(f"there is no {sku}; there are: {', '.join(ctx.deps.stock)}")
    return ctx.deps.stock[sku]


@warehouse.tool
async def order(ctx: RunContext[Warehouse], sku: str, number: Annotated[int, Field(ge=1)]) -> str:
    """Order more from the supplier.

    Args:
        ctx: The run.
        sku: What to order, such as SKU-1.
        number: How many.
    """
    if number > 100 and not ctx.tool_call_approved:
        raise ApprovalRequired
    ctx.deps.orders.setdefault(str(ctx.tool_call_id), (sku, number))
    return f"{number} of {sku} are on their way"


@warehouse.tool(requires_approval=True, timeout=5)
async def send(ctx: RunContext[Warehouse], parcel: Parcel) -> dict[str, int]:
    """Send one to a customer."""
    if ctx.deps.stock.get(parcel.sku, 0) < 1:
        raise ToolFailed(f"{parcel.sku} is sold out")
    ctx.deps.stock[parcel.sku] -= 1
    return {"left": ctx.deps.stock[parcel.sku]}
