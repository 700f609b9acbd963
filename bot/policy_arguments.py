"""Whether the arguments that the policy's rules name are those of the tools that they are for."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from difflib import get_close_matches

from agent.rules.policy import Policy
from agent.rules.rule import Rule
from agent.tools.agent_tool import AgentTool
from bot.marked_yaml import Way


def misnamed_arguments(policy: Policy, tools: Collection[AgentTool]) -> Iterator[tuple[Way, str]]:
    """Where a rule names an argument that none of its tools has, and what is wrong: such a condition
    can't ever be checked, and such a reason says nothing. A tool that takes whatever it is given has it."""
    for index, rule in enumerate(policy.rules):
        of_rule = [tool for tool in tools if rule.covers(tool.name)]
        if not of_rule or not all(_is_closed(tool) for tool in of_rule):
            continue
        known = sorted({name for tool in of_rule for name in _names(tool)})
        for key, named in rule.arguments.items():
            for name in sorted(named.difference(known)):
                yield ("policy", index, *key.split(".")), _message(rule, name, known)


def _is_closed(tool: AgentTool) -> bool:
    return tool.parameters.get("additionalProperties") is False


def _names(tool: AgentTool) -> Collection[str]:
    names: Collection[str] = tool.parameters.get("properties", {})
    return names


def _message(rule: Rule, name: str, known: Sequence[str]) -> str:
    there = f"there are: {', '.join(known)}" if known else "there are none"
    meant = get_close_matches(name, known, n=1)
    hint = f" Did you mean {meant[0]}?" if meant else ""
    who = rule.tool if rule.names_one_tool else f"none of the tools of {rule.tool}"
    return f"{who} has {'no' if rule.names_one_tool else 'an'} argument {name}; {there}.{hint}"
