"""The tools that an agent has."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from types import ModuleType

from agent.errors import ConfigError
from agent.ports import ToolSpec
from agent.tools.agent_tool import AgentTool, ToolServer
from agent.tools.declare import Tool


class Toolbox:
    """Tools by name: ours, and those of ``servers``. Raises ``ConfigError`` when two of ours have the same."""

    def __init__(self, tools: Iterable[AgentTool] = (), servers: Iterable[ToolServer] = ()) -> None:
        self._tools: dict[str, AgentTool] = {}
        self.servers = tuple(servers)
        for tool in tools:
            if self._tools.setdefault(tool.name, tool) is not tool:
                raise ConfigError(f"Two tools are named {tool.name}.")

    @classmethod
    def of_modules(
        cls, modules: Iterable[ModuleType], servers: Iterable[ToolServer] = ()
    ) -> Toolbox:
        """Every tool in these modules, and of every toolbox there. Raises ``ConfigError`` for a module without any."""
        found: list[AgentTool] = []
        for module in modules:
            tools = list(_in_module(module))
            if not tools:
                raise ConfigError(f"The module {module.__name__} has no @tool.")
            found.extend(tool for tool in tools if tool not in found)
        return cls(found, servers)

    def get(self, name: str) -> AgentTool | None:
        if found := self._tools.get(name):
            return found
        return next((one.tools[name] for one in self.servers if name in one.tools), None)

    def may_have(self, name: str) -> bool:
        """Is it there, or of a server that has not been asked yet?"""
        return self.get(name) is not None or any(
            name.startswith(f"{one.name}.") for one in self.servers if not one.is_known
        )

    async def look_again(self, names: Iterable[str]) -> None:
        """Ask the servers of these tools what they are by now."""
        wanted = set(names)
        asked = [one for one in self.servers if wanted.intersection(one.tools)]
        if asked:
            await asyncio.gather(*(one.look_again() for one in asked))

    def __iter__(self) -> Iterator[AgentTool]:
        yield from self._tools.values()
        for server in self.servers:
            yield from server.tools.values()

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        return tuple(tool.spec for tool in self)


def _in_module(module: ModuleType) -> Iterator[AgentTool]:
    for value in vars(module).values():
        # By its type: a proxy, as web frameworks have them, fails when it is asked for its class before its time.
        if issubclass(type(value), Tool):
            yield value
        elif issubclass(type(value), Toolbox):
            yield from value
