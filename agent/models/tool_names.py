"""Names of tools as providers take them: without a dot."""

from __future__ import annotations

from collections.abc import Iterable

from agent.ports import ToolSpec


def on_the_wire(name: str) -> str:
    """As it is told to the model."""
    return name.replace(".", "__")


def as_here(name: str, tools: Iterable[ToolSpec]) -> str:
    """As the model said it, or as the tool is called here that it means."""
    return next((tool.name for tool in tools if on_the_wire(tool.name) == name), name)
