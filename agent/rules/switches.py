"""Switches: what an owner turns on so that nothing of a kind starts any more, until it is turned off."""

from __future__ import annotations

from collections.abc import Callable, Collection
from fnmatch import fnmatchcase

from agent.errors import NoSuchSwitch
from agent.rules.decisions import Decider
from agent.rules.rule import People

#: Of everything that runs do.
ALL = "all"
_AGENT, _TOOL = "agent:", "tool:"


def agent_switch(agent: str) -> str:
    """Of all that this agent does."""
    return f"{_AGENT}{agent}"


def tool_switch(tool: str) -> str:
    """Of the calls of a tool, or of all tools that a glob matches."""
    return f"{_TOOL}{tool}"


def is_about_agent(switch: str, agent: str) -> bool:
    """Does it keep all of this agent's runs from going on?"""
    return switch in (ALL, agent_switch(agent))


def is_about_tool(switch: str, tool: str) -> bool:
    """Does it keep calls of this tool from starting, whoever's they are?"""
    return switch.startswith(_TOOL) and fnmatchcase(tool, switch.removeprefix(_TOOL))


def in_words(switch: str) -> str:
    """What is switched off by it."""
    if switch == ALL:
        return "everything"
    if switch.startswith(_AGENT):
        return f"the agent {switch.removeprefix(_AGENT)}"
    return switch.removeprefix(_TOOL)


def switch_named(
    said: str, agents: Collection[str], tools: Collection[str], may_have: Callable[[str], bool]
) -> str:
    """The switch that is meant: ``all``, ``agent:NAME``, ``tool:NAME`` or ``tool:GLOB``, or a name alone, where
    that is one thing. ``may_have`` also knows of tools that are not known yet. Raises ``NoSuchSwitch``: what is
    switched off in vain would be taken for safe."""
    if said.casefold() in (ALL, f"{ALL}:"):
        return ALL
    kind, colon, name = said.partition(":")
    wanted = f"{kind.casefold()}:" if colon else ""
    if wanted in (_AGENT, _TOOL):
        said = name.strip()
    agent = next((one for one in agents if one.casefold() == said.casefold()), None)
    is_tool = may_have(said) or any(fnmatchcase(tool, said) for tool in tools)
    found = [agent_switch(agent)] if agent is not None and wanted != _TOOL else []
    found += [tool_switch(said)] if is_tool and said and wanted != _AGENT else []
    if len(found) == 1:
        return found[0]
    if found:
        raise NoSuchSwitch(said, f"{said} is an agent and a tool; say {' or '.join(found)}.")
    there = f"agents: {', '.join(sorted(agents))}; tools: {', '.join(sorted(tools)) or 'none'}"
    raise NoSuchSwitch(
        said, f"there is no agent and no tool {said!r}. There are {there}; or say all."
    )


def may_switch(owners: People, by: Decider) -> bool:
    """Is it one of the owners, or the operator?"""
    is_owner = by.user in owners.users or not by.groups.isdisjoint(owners.groups)
    return by.authority == "operator" or (by.authority == "listed" and is_owner)
