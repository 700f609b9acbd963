"""What of a changed file holds at once, and what with the next start.

What a file says of agents that are there holds at once: policy, owners, instructions, budgets, people and the rest; so
does how long what ended is kept.
Their models, tools and servers are those of the start; but what the file takes from an agent is gone at once, for
the rules that kept it may be gone with it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from agent.engine.agents import Agent
from agent.rules.retention import Retention
from agent.tools.registry import Toolbox
from bot.config import AgentEntry, Config
from bot.models import DEMO


@dataclass(frozen=True, slots=True)
class CarriedOver:
    """The agents as they are from now on, and the keys whose change does not hold yet."""

    agents: tuple[Agent, ...]
    #: Those of them of which the file says anything, by their names.
    written: Mapping[str, Agent]
    needs_restart: tuple[str, ...]
    #: How long what ended is kept from now on.
    retention: Retention


def carried_over(start: Config, now: Mapping[str, Agent], new: Config) -> CarriedOver:
    """``start`` is what the process began with, ``now`` what is in force."""
    began = {agent.name: agent for agent in start.agents}
    carried = [_carried(began[one.name], one, new) for one in new.agents if one.name in began]
    # Their rules may be gone with them, so the old ones hold.
    gone = [name for name in began if name not in new.entries]
    kept = [replace(now[name], is_default=False, channels=()) for name in gone]
    added = [name for name in new.entries if name not in began]
    changed = [key for one in new.agents if one.name in began for key in _changed(start, new, one)]
    needs_restart = (*(f"agents.{name}" for name in (*gone, *added)), *changed)
    return CarriedOver(
        (*carried, *kept), {one.name: one for one in carried}, needs_restart, new.retention
    )


def _carried(old: Agent, agent: Agent, new: Config) -> Agent:
    """As it is written now, with what it began with."""
    toolbox = old.toolbox
    if agent.toolbox is not toolbox:
        toolbox = _without_what_is_gone(toolbox, agent.toolbox, new.entries[agent.name])
    return replace(
        agent,
        model=old.model,
        toolbox=toolbox,
        context_tokens=None if old.model.name == DEMO else agent.context_tokens,
    )


def _without_what_is_gone(old: Toolbox, new: Toolbox, written: AgentEntry) -> Toolbox:
    of_servers = {tool.name for server in old.servers for tool in server.tools.values()}
    own = [tool for tool in old if tool.name not in of_servers]
    return Toolbox(
        [tool for tool in own if new.get(tool.name) is not None],
        [server for server in old.servers if server.name in written.mcp],
    )


def _changed(start: Config, new: Config, agent: Agent) -> Iterator[str]:
    name = agent.name
    old, written = start.entries[name], new.entries[name]
    began = next(one for one in start.agents if one.name == name)
    if agent.model.name != began.model.name:
        yield f"agents.{name}.model"
    if old.tools != written.tools:
        yield f"agents.{name}.tools"
    for server in dict.fromkeys((*old.mcp, *written.mcp)):
        if old.mcp.get(server) != written.mcp.get(server):
            yield f"agents.{name}.mcp.{server}"
