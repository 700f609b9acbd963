"""The tools that an agent has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from types import ModuleType

from agent.errors import ConfigError
from agent.ports import ToolSpec
from agent.tools.declare import Tool


class Toolbox:
    """Tools by name. Raises ``ConfigError`` when two have the same."""

    def __init__(self, tools: Iterable[Tool] = ()) -> None:
        self._tools: dict[str, Tool] = {}
        for tool in tools:
            if self._tools.setdefault(tool.name, tool) is not tool:
                raise ConfigError(f"Two tools are named {tool.name}.")

    @classmethod
    def of_modules(cls, modules: Iterable[ModuleType]) -> Toolbox:
        """Every tool in these modules, and of every toolbox there. Raises ``ConfigError`` for a module without any."""
        found: list[Tool] = []
        for module in modules:
            tools = list(_in_module(module))
            if not tools:
                raise ConfigError(f"The module {module.__name__} has no @tool.")
            found.extend(tool for tool in tools if tool not in found)
        return cls(found)

    def get(self, name: str) -> Tool | None:
        return self._tools.get(name)

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._tools.values())

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        return tuple(tool.spec for tool in self)


def _in_module(module: ModuleType) -> Iterator[Tool]:
    for value in vars(module).values():
        if isinstance(value, Tool):
            yield value
        elif isinstance(value, Toolbox):
            yield from value
