"""Durable agent runs that people steer: the runtime, which knows neither SQL nor Slack."""

from __future__ import annotations

from agent.engine.agents import Agent
from agent.errors import Interrupted, Rejected
from agent.models.scripted import ScriptedModel
from agent.rules.decisions import Approve, Deny, Settle, Steer
from agent.rules.policy import Policy
from agent.runtime import Runtime
from agent.tools.context import Committed, ToolContext
from agent.tools.declare import tool
from agent.tools.money import Money
from agent.tools.registry import Toolbox

__all__ = [
    "Agent",
    "Approve",
    "Committed",
    "Deny",
    "Interrupted",
    "Money",
    "Policy",
    "Rejected",
    "Runtime",
    "ScriptedModel",
    "Settle",
    "Steer",
    "ToolContext",
    "Toolbox",
    "tool",
]
