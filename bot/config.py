"""``pilothouse.yml``: the agents and the policy.

Unknown keys refuse the start, and so do keys that only later versions carry out: a limit that is
written down and not kept is worse than none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from types import ModuleType
from typing import Annotated, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StrictBool,
    ValidationError,
    model_validator,
)
from pydantic_core import ErrorDetails

from agent.engine.agents import Agent
from agent.errors import ConfigError
from agent.ports import Model
from agent.rules.access import Access
from agent.rules.amounts import MOST, why_no_amount
from agent.rules.budgets import Budget
from agent.rules.compacting import LEAST_CONTEXT
from agent.rules.freeze import FreezeWindow
from agent.rules.policy import Policy
from agent.rules.retention import Retention
from agent.rules.rule import People, Rule
from agent.rules.wrong_key import wrong_key
from agent.tools.registry import Toolbox
from bot.config_agents import (
    NO_HANDING_ON,
    Channels,
    default_first,
    is_handing_on,
    must_be_told_apart,
)
from bot.config_freeze import windows_of_nothing
from bot.config_keys import meant_by
from bot.config_mcp import PlacedServer, ServerEntry, ServerName, check_names, placed_servers
from bot.config_people import PeopleEntry, StartsEntry
from bot.config_retention import RetentionEntry
from bot.config_tests import PolicyTest
from bot.config_words import in_plain_words
from bot.marked_yaml import MarkedYaml, Problem, Way, all_of
from bot.models import DEMO, model_named
from bot.policy_arguments import misnamed_arguments
from bot.policy_limits import uncountable_limits
from bot.tool_modules import CantBeImported, import_tools

#: Plain letters: one that only looks like another would be another agent, of which no condition speaks.
_Name = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_-]{0,39}$")]


_Count = Annotated[int, Field(ge=1, strict=True)]
_Amount = Annotated[Decimal, Field(gt=0)]


class BudgetEntry(BaseModel):
    """What one run of an agent may use up, as it is written."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    model_calls: _Count | None = None
    tokens: _Count | None = None
    cost_usd: _Amount | None = None
    #: Without the time in which people are waited for.
    minutes: _Amount | None = None
    on_reached: Literal["ask", "stop"] = "ask"

    @model_validator(mode="after")
    def _limits_something(self) -> BudgetEntry:
        given = {name: getattr(self, name) for name in MOST}
        limits = {name: limit for name, limit in given.items() if limit is not None}
        if not limits:
            raise ValueError("give at least one of model_calls, tokens, cost_usd and minutes")
        for name, limit in limits.items():
            if why := why_no_amount(name, Decimal(limit)):
                raise wrong_key(name, why.removesuffix("."))
        return self

    @property
    def budget(self) -> Budget:
        return Budget(self.model_calls, self.tokens, self.cost_usd, self.minutes, self.on_reached)


class AgentEntry(BaseModel):
    """One agent, as it is written."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    model: str = Field(min_length=1)
    instructions: str = ""
    tools: tuple[str, ...] = ()
    channels: Channels = ()
    mcp: dict[ServerName, ServerEntry] = Field(default_factory=dict)
    default: StrictBool = False
    dry_run: StrictBool = False
    budget: BudgetEntry | None = None
    people: PeopleEntry | None = None
    starts: StartsEntry | None = None
    context_tokens: Annotated[int, Field(ge=LEAST_CONTEXT, strict=True)] | None = None

    @property
    def access(self) -> Access:
        return Access() if self.people is None else self.people.access

    @property
    def starts_per_hour(self) -> int | None:
        return None if self.starts is None else self.starts.per_user_hour


class ConfigFile(BaseModel):
    """The file, as it is written."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    owners: People = People()
    agents: dict[_Name, AgentEntry] = Field(min_length=1)
    policy: tuple[Rule, ...] = ()
    freeze: tuple[FreezeWindow, ...] = ()
    tests: tuple[PolicyTest, ...] = ()
    retention: RetentionEntry | None = None


@dataclass(frozen=True, slots=True)
class UnknownTool:
    """A rule for a tool that no agent has: a slip, and what it was to deny would not be denied; or the
    tool was taken out while the rule stayed."""

    tool: str
    problem: Problem

    @property
    def message(self) -> str:
        """With file, line and key."""
        return str(self.problem)


@dataclass(frozen=True, slots=True)
class Config:
    """What may be run, and what holds for it."""

    #: The one for whoever names none stands first.
    agents: tuple[Agent, ...]
    policy: Policy
    #: The file itself, to say where something of it stands.
    marked: MarkedYaml = field(repr=False)
    #: What it says of its own rules; the start takes no notice of whether that is so.
    tests: tuple[PolicyTest, ...] = ()
    #: What is wrong unless runs still wait for these tools, which the file alone does not tell: whoever
    #: loads it to work runs must refuse them otherwise.
    unknown_tools: tuple[UnknownTool, ...] = ()
    #: To be started before runs are worked.
    servers: tuple[PlacedServer, ...] = ()
    #: How long what ended is kept.
    retention: Retention = field(default_factory=Retention)
    #: What the file can't tell alone: holds all of it for the tools of the servers, once they are known? As
    #: ``unknown_tools``; raises ``ConfigError``.
    check_tools: Callable[[], tuple[UnknownTool, ...]] = field(default=tuple, repr=False)
    #: The agents as they are written there.
    entries: Mapping[str, AgentEntry] = field(default_factory=dict, repr=False)

    def toolbox_of(self, name: str, entry: AgentEntry) -> Toolbox | None:
        """That of an agent of this name, where its tools are written as they are in ``entry``."""
        written = self.entries.get(name)
        if written is None or (written.tools, written.mcp) != (entry.tools, entry.mcp):
            return None
        return next(agent.toolbox for agent in self.agents if agent.name == name)


def load_config(
    path: Path,
    *,
    model: str | None = None,
    content: bytes | None = None,
    running: Config | None = None,
) -> Config:
    """Read, check and import everything; ``model`` replaces every agent's. ``content`` are the file's bytes, where
    they have been read already; of ``running`` those tools are taken over that are written in the same way.

    Raises ``ConfigError``, a line a mistake, each with the file, the line and the key.
    """
    marked = MarkedYaml(path, content)
    written = _validate(marked)
    policy = Policy(owners=written.owners, rules=written.policy, freeze=written.freeze)
    agents: list[Agent] = []
    servers: list[PlacedServer] = []
    must_be_told_apart(marked, written.agents)
    for name, entry in default_first(marked, written.agents):
        toolbox = running.toolbox_of(name, entry) if running else None
        if toolbox is None:
            placed = placed_servers(marked, name, entry.mcp)
            servers += placed
            toolbox = _toolbox(marked, name, entry, placed)
        chosen = _overriding(model) if model else _written(marked, name, entry.model)
        budget = _budget(marked, policy, name, entry)
        agents.append(
            Agent(
                name,
                chosen,
                toolbox,
                policy,
                entry.instructions,
                budget=budget,
                access=entry.access,
                starts_per_hour=entry.starts_per_hour,
                channels=entry.channels,
                is_default=entry.default,
                dry_run=entry.dry_run,
                context_tokens=_context_tokens(marked, name, entry, chosen),
            )
        )

    def check_tools() -> tuple[UnknownTool, ...]:
        for agent in agents:
            check_names(marked, agent.name, agent.toolbox)
            _check_approvers(marked, policy, agent.toolbox)
        _check_arguments(marked, policy, agents)
        return tuple(_unknown_tools(marked, policy, agents))

    return Config(
        tuple(agents),
        policy,
        marked,
        tests=written.tests,
        unknown_tools=check_tools(),
        servers=tuple(servers),
        retention=Retention() if written.retention is None else written.retention.retention,
        check_tools=check_tools,
        entries=written.agents,
    )


def _validate(marked: MarkedYaml) -> ConfigFile:
    if not isinstance(marked.values, dict):
        raise marked.error((), "there are no agents in it.")
    try:
        written = ConfigFile.model_validate(marked.values)
    except ValidationError as error:
        problems = error.errors(include_input=False, include_url=False)
        told = [problem for problem in problems if not _follows(problem, problems)]
        raise all_of(marked.error(*_in_words(problem)) for problem in told) from error
    if "owners" in marked.values and written.owners.is_nobody:
        raise marked.error(("owners",), "name at least one user or group, or take it out.")
    return written


def _follows(problem: ErrorDetails, problems: Sequence[ErrorDetails]) -> bool:
    """Is a list too short only because what stands in it is wrong?"""
    way = problem["loc"]
    within = (one["loc"] for one in problems if len(one["loc"]) > len(way))
    return problem["type"] == "too_short" and any(one[: len(way)] == way for one in within)


def _in_words(problem: ErrorDetails) -> tuple[Way, str]:
    # A key of a mapping is reported behind the key itself.
    way = [part for part in problem["loc"] if part != "[key]"]
    if problem["type"] == "wrong_key":
        # Found out by comparing several keys: it says itself which of them is wrong.
        way += [int(part) if part.isdecimal() else part for part in problem["ctx"]["at"].split(".")]
    if problem["type"] == "extra_forbidden":
        if is_handing_on(way):
            return way, NO_HANDING_ON
        meant = meant_by(ConfigFile, way)
        return way, f"there is no such key{f'; did you mean {meant}?' if meant else '.'}"
    return way, in_plain_words(problem, way)


def _toolbox(
    marked: MarkedYaml, name: str, entry: AgentEntry, placed: Sequence[PlacedServer]
) -> Toolbox:
    modules: list[ModuleType] = []
    wrong: list[ConfigError] = []
    for index, module in enumerate(entry.tools):
        way = ("agents", name, "tools", index)
        try:
            modules.append(import_tools(module, marked.path.parent))
            Toolbox.of_modules(modules[-1:])
        except CantBeImported as error:
            wrong += [marked.error(way, reason) for reason in error.reasons]
        except ConfigError as error:
            wrong.append(marked.error(way, str(error)))
    if wrong:
        raise all_of(wrong)
    try:
        return Toolbox.of_modules(modules, [one.server for one in placed])
    except ConfigError as error:
        raise marked.error(("agents", name, "tools"), str(error)) from error


def _budget(marked: MarkedYaml, policy: Policy, name: str, entry: AgentEntry) -> Budget | None:
    if entry.budget is None:
        return None
    if entry.budget.on_reached == "ask" and policy.owners.is_nobody:
        raise marked.error(
            ("agents", name, "budget", "on_reached"),
            "owners are asked when it is reached, and there are none; name owners, or say stop.",
        )
    return entry.budget.budget


def _context_tokens(marked: MarkedYaml, name: str, entry: AgentEntry, chosen: Model) -> int | None:
    if entry.model == DEMO and entry.context_tokens is not None:
        raise marked.error(
            ("agents", name, "context_tokens"),
            "the demo's model goes by all that was said, and can sum up nothing; take it out.",
        )
    return None if chosen.name == DEMO else entry.context_tokens


def _check_approvers(marked: MarkedYaml, policy: Policy, toolbox: Toolbox) -> None:
    for tool in toolbox:
        if tool.is_question:
            continue  # Whoever asked for the run can always answer.
        rule = policy.may_ask_without_approvers(tool.name, asks_by_itself=tool.may_ask())
        if rule is not None:
            index = next((i for i, one in enumerate(policy.rules) if one.in_words == rule), None)
            raise marked.error(
                () if index is None else ("policy", index),
                f"{tool.name} may be asked ({rule}), and nobody could decide it; "
                "name approvers in that rule, or owners.",
            )


def _check_arguments(marked: MarkedYaml, policy: Policy, agents: Sequence[Agent]) -> None:
    tools = [tool for agent in agents for tool in agent.toolbox]
    found = (*misnamed_arguments(policy, tools), *uncountable_limits(policy, tools))
    if wrong := [marked.error(*one) for one in found]:
        raise all_of(wrong)


def _unknown_tools(
    marked: MarkedYaml, policy: Policy, agents: Sequence[Agent]
) -> Iterator[UnknownTool]:
    tools = sorted({tool.name for agent in agents for tool in agent.toolbox})
    for index, rule in enumerate(policy.rules):
        if rule.names_one_tool and not any(a.toolbox.may_have(rule.tool) for a in agents):
            message = f"no agent has a tool {rule.tool}; there are: {', '.join(tools) or 'none'}."
            yield UnknownTool(rule.tool, marked.problem(("policy", index, "tool"), message))
    for tool, problem in windows_of_nothing(marked, policy.freeze, agents):
        yield UnknownTool(tool, problem)


def _written(marked: MarkedYaml, agent: str, name: str) -> Model:
    try:
        return model_named(name)
    except ConfigError as error:
        raise marked.error(("agents", agent, "model"), str(error)) from error


def _overriding(name: str) -> Model:
    try:
        return model_named(name)
    except ConfigError as error:
        raise ConfigError(f"The setting PILOTHOUSE_MODEL is wrong: {error}") from error
