"""Why this process can't take a run on, and what to do about it."""

from __future__ import annotations

from collections.abc import Mapping

from agent.engine.agents import Agent
from agent.rules.state import RunState


def why_blocked(agents: Mapping[str, Agent], state: RunState) -> dict[str, str] | None:
    """``code``, ``message`` and ``fix``; None where nothing stands in the way, and for what has ended."""
    if state.is_ended:
        return None
    agent = agents.get(state.agent)
    if agent is None:
        return {
            "code": "missing_agent",
            "message": f"The agent {state.agent} is not configured.",
            "fix": "Put the agent back into pilothouse.yml; the run goes on by itself.",
        }
    for call in state.open_calls:
        if call.status != "proposed" and agent.toolbox.get(call.tool) is None:
            return {
                "code": "missing_tool",
                "message": f"{agent.name} has no tool {call.tool} any more.",
                "fix": "Put the tool back; the run goes on by itself.",
            }
    return None
