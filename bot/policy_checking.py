"""Whether a configuration is right, as far as that can be said without starting it: ``policy check``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from agent.errors import ConfigError
from agent.rules.parts import Approvers
from agent.rules.policy_warnings import KnownTool, warnings_of
from agent.tools.agent_tool import AgentTool
from bot.config import Config, load_config
from bot.config_mcp import started
from bot.config_tests import ExpectedApprovers, PolicyTest
from bot.marked_yaml import Problem, problems_of
from bot.policy_trying import CantBeJudged, Seen, weigh_example


@dataclass(frozen=True, slots=True)
class Tried:
    """One of the file's tests, and what came of it."""

    test: PolicyTest
    line: int
    #: None where there is no such call.
    seen: Seen | None
    #: What is not as it was to be, in words; nothing: it is.
    wrong: tuple[str, ...]

    @property
    def passes(self) -> bool:
        return not self.wrong


@dataclass(frozen=True, slots=True)
class Checked:
    """What was found out of a file."""

    file: Path
    #: None where the file is wrong: then nothing more of it was looked at.
    config: Config | None
    errors: tuple[Problem, ...] = ()
    warnings: tuple[Problem, ...] = ()
    tests: tuple[Tried, ...] = ()
    #: Servers whose tools nobody asked for.
    open_servers: tuple[str, ...] = ()

    @property
    def is_fine(self) -> bool:
        return not self.errors and all(one.passes for one in self.tests)


async def check_file(file: Path, *, model: str | None = None, starts_servers: bool) -> Checked:
    """Load the file as a start would, look for what can't be meant, and run its tests. It needs no store, no
    Slack and no key; ``starts_servers``: its MCP servers are started, asked for their tools, and ended."""
    try:
        config = load_config(file, model=model)
        async with started(config.servers if starts_servers else ()):
            unknown = config.check_tools()
            return Checked(
                file,
                config,
                errors=tuple(one.problem for one in unknown),
                warnings=warnings_in(config),
                tests=tuple(_try_all(config)),
                open_servers=open_servers(config),
            )
    except ConfigError as error:
        return Checked(file, None, errors=problems_of(error))


def warnings_in(config: Config) -> tuple[Problem, ...]:
    """What can't be meant and refuses no start; also for whoever loads the file to work by it."""
    known = {tool.name: _known(tool) for agent in config.agents for tool in agent.toolbox}
    found = warnings_of(
        config.policy,
        tuple(known.values()),
        open_servers(config),
        lambda number: f"line {rule_line(config, number)}",
    )
    return tuple(config.marked.problem(one.way, one.message) for one in found)


def rule_line(config: Config, number: int) -> int:
    """Where the rule of this number, from 0, stands in the file."""
    return config.marked.line(("policy", number))


def open_servers(config: Config) -> tuple[str, ...]:
    """Those that were not asked for their tools yet, by name."""
    servers = (one.server for one in config.servers)
    return tuple(sorted({server.name for server in servers if not server.is_known}))


def _known(tool: AgentTool) -> KnownTool:
    is_closed = tool.parameters.get("additionalProperties") is False
    return KnownTool(
        tool.name,
        tool.effect,
        tool.needs_a_yes,
        frozenset(tool.parameters.get("properties", {})) if is_closed else None,
        tool.always_has,
    )


def _try_all(config: Config) -> Iterator[Tried]:
    for number, test in enumerate(config.tests):
        line = config.marked.line(("tests", number))
        try:
            seen = weigh_example(config.agents, test, test.at)
        except CantBeJudged as error:
            yield Tried(test, line, None, (f"{error}",))
        else:
            yield Tried(test, line, seen, tuple(_wrong(test, seen)))


def _wrong(test: PolicyTest, seen: Seen) -> Iterator[str]:
    verdict = seen.weighed.verdict
    if seen.outcome != test.expect:
        yield f"{test.expect} was expected, and it is {seen.outcome}"
    if test.reason is not None and verdict.reason != test.reason:
        yield f"the reason was to be {test.reason!r}, and is {verdict.reason!r}"
    if test.approvers is not None:
        yield from _wrong_approvers(test.approvers, verdict.approvers)


def _wrong_approvers(expected: ExpectedApprovers, got: Approvers) -> Iterator[str]:
    for name in expected.model_fields_set:
        wanted, there = getattr(expected, name), getattr(got, name)
        if isinstance(wanted, tuple):
            wanted, there = sorted(wanted), sorted(there)
        if wanted != there:
            yield f"approvers.{name} was to be {_said(wanted)}, and is {_said(there)}"


def _said(value: Sequence[str] | int) -> str:
    if isinstance(value, list):
        return f"[{', '.join(value)}]"
    return str(value).lower()
