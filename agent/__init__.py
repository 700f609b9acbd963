"""Durable agent runs that people steer: the runtime, which knows neither SQL nor Slack."""

from __future__ import annotations

from agent.engine.agents import Agent
from agent.errors import Interrupted, Rejected
from agent.models.scripted import ScriptedModel
from agent.ports import ModelCall, ModelReply
from agent.rules.budgets import Budget
from agent.rules.decisions import Answer, Approve, Decider, Deny, Settle, Steer
from agent.rules.grants import GrantWish
from agent.rules.ids import Principal
from agent.rules.policy import Policy
from agent.rules.rule import People, Rule, RuleApprovers
from agent.runtime import Runtime
from agent.tools.asking import ask_user
from agent.tools.context import Committed, ToolContext
from agent.tools.declare import tool
from agent.tools.money import Money
from agent.tools.registry import Toolbox
from agent.tools.toolsets import from_toolset

__all__ = [
    "Agent",
    "Answer",
    "Approve",
    "Budget",
    "Committed",
    "Decider",
    "Deny",
    "GrantWish",
    "Interrupted",
    "ModelCall",
    "ModelReply",
    "Money",
    "People",
    "Policy",
    "Principal",
    "Rejected",
    "Rule",
    "RuleApprovers",
    "Runtime",
    "ScriptedModel",
    "Settle",
    "Steer",
    "ToolContext",
    "Toolbox",
    "ask_user",
    "from_toolset",
    "tool",
]
