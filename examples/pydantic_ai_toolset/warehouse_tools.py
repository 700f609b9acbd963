"""All that it takes to give the toolset to an agent of Pilothouse."""

from __future__ import annotations

from warehouse_toolset import Warehouse, warehouse

from agent import from_toolset

tools = from_toolset(
    warehouse,
    deps=Warehouse(),
    effects={"count": "read", "order": "idempotent"},
    titles={"count": "Count what is there", "order": "Order more", "send": "Send a parcel"},
)
