"""Switches: what an owner turns on so that nothing of a kind starts any more, until it is turned off."""

from __future__ import annotations

from fnmatch import fnmatchcase

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
