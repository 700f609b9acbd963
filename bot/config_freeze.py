"""``freeze`` of ``pilothouse.yml``, held against the tools that there are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from agent.engine.agents import Agent
from agent.rules.freeze import FreezeWindow
from bot.marked_yaml import MarkedYaml, Problem


def windows_of_nothing(
    marked: MarkedYaml, windows: Iterable[FreezeWindow], agents: Iterable[Agent]
) -> Iterator[tuple[str, Problem]]:
    """Each tool that a window names and no agent has, and the words for it: a slip, and what it was to freeze would
    start. A glob may be for what is to come."""
    agents = list(agents)
    tools = sorted({tool.name for agent in agents for tool in agent.toolbox})
    for index, window in enumerate(windows):
        if window.names_one_tool and not any(a.toolbox.may_have(window.tools) for a in agents):
            message = (
                f"no agent has a tool {window.tools}; there are: {', '.join(tools) or 'none'}."
            )
            yield window.tools, marked.problem(("freeze", index, "tools"), message)
