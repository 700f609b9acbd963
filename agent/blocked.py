"""Why a run can't be taken on, or nobody be asked what it waits for, and what to do about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agent.engine.agents import Agent
from agent.engine.presence import is_worked, tools_needed, workers_of
from agent.ports import NeedsCredentials, Store
from agent.rules.state import RunState


async def why_blocked(
    store: Store, agents: Mapping[str, Agent], state: RunState
) -> dict[str, str] | None:
    """Why the run does not go on though somebody would have it go on: ``code``, ``message`` and ``fix``; as
    ``why_not_taken``, and also where it can't ask what it has to."""
    return await why_not_taken(store, agents, state) or await _why_not_asked(store, state)


async def _why_not_asked(store: Store, state: RunState) -> dict[str, str] | None:
    if not state.open_approvals or state.place is None:
        return None
    trouble = await store.threads.trouble(state.run_id)
    if trouble is None:
        return None
    return {
        "code": "undeliverable",
        "message": f"What it waits for can't be asked in its thread ({trouble}).",
        "fix": "Decide it on the command line: pilothouse approvals. Where the bot can write again, it is "
        f"asked there by itself, or at once: pilothouse resume {state.run_id}",
    }


async def why_not_taken(
    store: Store, agents: Mapping[str, Agent], state: RunState
) -> dict[str, str] | None:
    """Why nobody takes the run on: no live process can, nor could this one, with ``agents``. As
    ``why_not_here`` gives it; None where somebody can, and for what has ended.

    While others work the agent's runs, what they lack counts, whatever there is here."""
    here, needed = why_not_here(agents, state), tools_needed(state)
    # What every build can read and needs no tool, whoever has the agent can take on.
    is_for_anybody = not needed and state.form == 1
    if state.is_ended or (is_for_anybody and not here) or await is_worked(store, state):
        return None
    if here is not None:
        return here
    workers = await workers_of(store, state.agent)
    if not workers:
        return None
    is_read = any(worker.can_read(state.form) for worker in workers)
    return _lacking(state, needed) if is_read else _too_old(state)


def why_not_here(agents: Mapping[str, Agent], state: RunState) -> dict[str, str] | None:
    """Why this process, with ``agents``, can't take the run on: ``code``, ``message`` and ``fix``. None
    where nothing stands in the way, and for what has ended or is to end: that needs nothing."""
    if state.is_ended or state.stop is not None:
        return None
    agent = agents.get(state.agent)
    if agent is None:
        return {
            "code": "missing_agent",
            "message": f"The agent {state.agent} is not configured.",
            "fix": "Put the agent back into pilothouse.yml; the run goes on by itself.",
        }
    for tool in tools_needed(state):
        if not agent.toolbox.may_have(tool):
            return {
                "code": "missing_tool",
                "message": f"{agent.name} has no tool {tool} any more.",
                "fix": "Put the tool back; the run goes on by itself.",
            }
    if isinstance(agent.model, NeedsCredentials) and (lack := agent.model.lacks()):
        return {"code": "no_credentials", "message": lack.message, "fix": lack.fix}
    return None


def _lacking(state: RunState, needed: Sequence[str]) -> dict[str, str]:
    """Here everything is there, but they were started without it, or before."""
    return {
        "code": "missing_tool",
        "message": f"No bot that runs now has what this run of {state.agent} needs: "
        f"{', '.join(needed)}.",
        "fix": "Restart the bots with it, and the run goes on by itself; or work it here: "
        f"pilothouse resume {state.run_id}",
    }


def _too_old(state: RunState) -> dict[str, str]:
    return {
        "code": "incompatible",
        "message": f"No bot that runs now can read this run of {state.agent}: a newer build wrote it.",
        "fix": "Start bots of the newer build, and the run goes on by itself; or work it here: "
        f"pilothouse resume {state.run_id}",
    }
