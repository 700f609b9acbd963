"""Whether what the policy's limits add up are numbers, and of one kind, with the tools that they are for."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final

from agent.rules.conditions import ConditionFailed
from agent.rules.limit_amounts import currency_of
from agent.rules.policy import Policy
from agent.rules.rule import Rule
from agent.rules.rule_limit import RuleLimit
from agent.rules.values import declared_of
from agent.tools.agent_tool import AgentTool
from bot.marked_yaml import Way

_NUMBERS: Final = frozenset({"number", "integer"})


def uncountable_limits(policy: Policy, tools: Collection[AgentTool]) -> Iterator[tuple[Way, str]]:
    """Where a rule adds up what is no number, or amounts of several currencies, and what is wrong. Of an argument
    that a tool does not describe nothing is known before a call of it."""
    for index, rule in enumerate(policy.rules):
        if rule.limit is None:
            continue
        of_rule = [tool for tool in tools if rule.covers(tool.name)]
        if of_rule and all(tool.is_question for tool in of_rule):
            yield (
                ("policy", index, "limit"),
                f"{rule.tool} only asks people something; take it out.",
            )
        elif why := _why_not(rule, rule.limit, of_rule):
            yield ("policy", index, "limit", "sum"), why


def _why_not(rule: Rule, limit: RuleLimit, tools: Collection[AgentTool]) -> str | None:
    for tool in tools:
        if len(limit.path) == 1 and _is_no_number(declared_of(limit.path[0], tool.parameters)):
            return f"{limit.path[0]} of {tool.name} is no number."
    try:
        found = {currency_of(limit, tool.parameters): tool.name for tool in tools}
    except ConditionFailed as error:
        return f"{error}; those are never added up."
    if len(found) < 2:
        return None
    named = " and ".join(
        f"{currency or 'no currency'} ({tool})" for currency, tool in found.items()
    )
    return f"it would add up {named}; write a rule for each tool of {rule.tool}."


def _is_no_number(declared: Mapping[str, Any]) -> bool:
    """Can nothing that fits be one?"""
    if declared.get("format") == "money":
        return False
    branches = [*declared.get("anyOf", ()), *declared.get("oneOf", ())]
    if branches:
        return all(isinstance(one, Mapping) and _is_no_number(one) for one in branches)
    if "enum" in declared:
        return not any(_is_number(one) for one in declared["enum"])
    said = declared.get("type")
    types = [said] if isinstance(said, str) else said if isinstance(said, list) else []
    return bool(types) and _NUMBERS.isdisjoint(types)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
