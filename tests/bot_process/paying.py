"""A tool for tests of files that change."""

from __future__ import annotations

from agent import tool


@tool(approval=True)
def pay(amount: int) -> str:
    """Pay."""
    return f"paid {amount}"
