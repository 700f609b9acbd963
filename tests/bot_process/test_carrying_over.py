"""What of a changed file holds at once, and what with the next start."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent import Agent
from agent.engine.in_force import AgentsInForce
from agent.rules.parts import Approvers
from bot.carrying_over import CarriedOver, carried_over
from bot.config import Config, load_config

FILE = """\
owners: {users: [U0OWNER]}
agents:
  refunds:
    default: true
    model: demo
    instructions: Be kind.
    tools: [bot.demo.tools, agent.tools.asking]
    mcp: {git: {command: [mcp-server-git]}, files: {command: [files]}}
  helper: {model: "anthropic:x", tools: [agent.tools.asking], channels: [C0HELP]}
policy:
  - {tool: send_voucher, action: deny}
"""


class Changing:
    """A process that began with ``FILE``."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "pilothouse.yml"
        self.start = self.load(FILE)
        self.agents = AgentsInForce(self.start.agents)

    def load(self, text: str, running: Config | None = None) -> Config:
        return load_config(self.path, content=text.encode(), running=running)

    def to(self, text: str) -> CarriedOver:
        return carried_over(self.start, self.agents, self.load(text, self.start))

    def with_(self, old: str, new: str) -> CarriedOver:
        assert old in FILE
        return self.to(FILE.replace(old, new))


@pytest.fixture
def changing(tmp_path: Path) -> Changing:
    return Changing(tmp_path)


def tools(agent: Agent) -> set[str]:
    return {tool.name for tool in agent.toolbox}


def test_what_is_said_of_agents_that_are_there_holds_at_once(changing: Changing) -> None:
    text = FILE.replace("U0OWNER", "U0OTHER").replace("deny", "ask").replace("kind", "brief")
    more = (
        "dry_run: true, starts: {per_user_hour: 3}, people: {stop: {users: [U0BOB]}},"
        " budget: {tokens: 5000}, context_tokens: 9000, channels: [C0NEW]"
    )
    carried = changing.to(text.replace("channels: [C0HELP]", more))
    refunds, helper = carried.agents
    assert carried.needs_restart == ()
    assert set(carried.written) == {"refunds", "helper"}
    assert refunds.policy.owners.users == ("U0OTHER",)
    assert refunds.policy.rules[0].action == "ask"
    assert refunds.instructions == "Be brief."
    assert (helper.dry_run, helper.starts_per_hour, helper.channels) == (True, 3, ("C0NEW",))
    assert helper.access.those_who_may("stop") == Approvers(users=("U0BOB",))
    assert helper.budget is not None
    assert (helper.budget.tokens, helper.context_tokens) == (5000, 9000)


def test_another_default_holds_at_once(changing: Changing) -> None:
    text = FILE.replace("    default: true\n", "").replace("channels: [C0HELP]", "default: true")
    assert [one.name for one in changing.to(text).agents] == ["helper", "refunds"]


def test_tools_and_models_stay_the_very_same(changing: Changing) -> None:
    carried = changing.with_("kind", "brief")
    for old, new in zip(changing.start.agents, carried.agents, strict=True):
        assert new.toolbox is old.toolbox
        assert new.model is old.model


def test_another_model_takes_a_restart(changing: Changing) -> None:
    carried = changing.to(FILE.replace("anthropic:x", "anthropic:y").replace("kind", "brief"))
    assert carried.needs_restart == ("agents.helper.model",)
    assert [one.model.name for one in carried.agents] == ["demo", "anthropic:x"]
    assert carried.agents[0].instructions == "Be brief."


def test_the_demos_model_never_sums_up_also_where_another_is_written_now(
    changing: Changing,
) -> None:
    text = FILE.replace("model: demo", 'model: "anthropic:y"\n    context_tokens: 9000')
    assert changing.to(text).agents[0].context_tokens is None


def test_a_tool_that_is_taken_out_is_gone_with_its_rule(changing: Changing) -> None:
    text = FILE.replace("bot.demo.tools, ", "").replace(
        "{tool: send_voucher, action: deny}", '{tool: "*", action: allow}'
    )
    carried = changing.to(text)
    assert carried.needs_restart == ("agents.refunds.tools",)
    assert tools(carried.agents[0]) == {"ask_user"}


def test_a_tool_that_is_added_comes_with_the_restart(changing: Changing) -> None:
    carried = changing.with_(
        "tools: [agent.tools.asking]", "tools: [agent.tools.asking, bot.demo.tools]"
    )
    assert carried.needs_restart == ("agents.helper.tools",)
    assert tools(carried.agents[1]) == {"ask_user"}


def test_servers_stay_as_they_are_but_for_one_that_is_taken_out(changing: Changing) -> None:
    new = "mcp: {git: {command: [mcp-server-git], timeout: 2m}, web: {command: [web]}}"
    carried = changing.with_(
        "mcp: {git: {command: [mcp-server-git]}, files: {command: [files]}}", new
    )
    assert carried.needs_restart == (
        *("agents.refunds.mcp.git", "agents.refunds.mcp.files", "agents.refunds.mcp.web"),
    )
    (git,) = carried.agents[0].toolbox.servers
    assert git is changing.start.agents[0].toolbox.servers[0]


def test_what_is_put_back_needs_no_restart_any_more(changing: Changing) -> None:
    carried = changing.with_("bot.demo.tools, ", "")
    changing.agents.replace(carried.agents)
    again = changing.to(FILE.replace("kind", "brief"))
    assert again.needs_restart == ()
    assert again.agents[0].toolbox is changing.start.agents[0].toolbox


def test_an_agent_that_is_taken_out_stays_with_its_rules_until_the_restart(
    changing: Changing,
) -> None:
    only = "agents:\n  helper: {model: 'anthropic:x', tools: [agent.tools.asking]}\n"
    carried = changing.to(f"owners: {{users: [U0OTHER]}}\n{only}")
    assert carried.needs_restart == ("agents.refunds",)
    helper, refunds = carried.agents
    assert (helper.name, refunds.name) == ("helper", "refunds")
    assert helper.policy.rules == ()
    assert refunds.policy == changing.start.policy
    assert not refunds.is_default
    assert set(carried.written) == {"helper"}, "nothing new was loaded for the other"


def test_an_agent_that_is_added_comes_with_the_restart(changing: Changing) -> None:
    carried = changing.with_(
        "agents:\n", "agents:\n  third: {model: demo, tools: [agent.tools.asking]}\n"
    )
    assert carried.needs_restart == ("agents.third",)
    assert [one.name for one in carried.agents] == ["refunds", "helper"]
