"""An agent: a model, its tools, and the policy that holds for them."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from pydantic import JsonValue

from agent.engine.long_conversations import size_of_fixed
from agent.errors import Blocked, ConfigError
from agent.ports import Model, ModelReply, ModelRequest, StartsLimit
from agent.rules.access import STARTS_WITHIN, Access
from agent.rules.budgets import Budget
from agent.rules.circumstances import NOTHING_KNOWN, Circumstances
from agent.rules.compacting import Context
from agent.rules.decisions import Decision
from agent.rules.json_text import dump_text
from agent.rules.judgement import InvalidCall, Judgement
from agent.rules.limiting import Place
from agent.rules.policy import Policy, Subject
from agent.rules.state import Approval, RunState
from agent.rules.values import show_args
from agent.tools.agent_tool import AgentTool
from agent.tools.registry import Toolbox
from agent.tools.writing_down import write_down

log = logging.getLogger(__name__)

#: Decides an approval, or passes with None. It may be asked the same twice, and is recorded as
#: ``code:NAME`` by the name of the function.
CodeDecider = Callable[[Approval], Awaitable[Decision | None]]


class NoModel:
    """That of an agent that is not here."""

    name = ""

    async def reply(self, request: ModelRequest) -> ModelReply:
        raise Blocked("missing_agent", "The agent is not configured here, so it has no model.")


@dataclass(frozen=True, slots=True)
class Agent:
    """What a run is given to. ``name`` is how it is called and what its journals say."""

    name: str
    model: Model
    toolbox: Toolbox
    policy: Policy = field(default_factory=Policy)
    instructions: str = ""
    #: Asked before people are: it decides an approval in code, or passes it on to them with None. Where
    #: a person has decided already, by steering the call to what is asked about, it is not asked.
    decider: CodeDecider | None = None
    #: What a run of it may use up; None: whatever it takes.
    budget: Budget | None = None
    #: Who may start its runs, steer and stop them. Whoever takes what people do asks it, not the engine.
    access: Access = field(default_factory=Access)
    #: How many of its runs one person may start within ``STARTS_WITHIN``; None: any number.
    starts_per_hour: int | None = None
    #: The channels where whoever names nobody means it. None: it can be named anywhere.
    channels: tuple[str, ...] = ()
    #: It is meant wherever no other is, whatever its ``channels``.
    is_default: bool = False
    #: Its calls are judged and asked about as any, and none is carried out.
    dry_run: bool = False
    #: How long one request to the model may take; then it is made again, a limited number of times.
    request_timeout: timedelta = timedelta(minutes=5)
    #: How much its model is to be told at once, in tokens; None: as much as it takes.
    context_tokens: int | None = None
    #: What the log was told once, and is not told again.
    _warned: set[str] = field(default_factory=set, init=False, repr=False, compare=False)

    @property
    def starts_limit(self) -> StartsLimit | None:
        """The same for whoever counts them."""
        if self.starts_per_hour is None:
            return None
        return StartsLimit(self.starts_per_hour, STARTS_WITHIN)

    @property
    def context(self) -> Context:
        return Context(
            self.context_tokens, lambda: size_of_fixed(self.instructions, self.toolbox.specs)
        )

    def as_seen(
        self,
        state: RunState,
        tool: str,
        args: Mapping[str, JsonValue],
        around: Circumstances = NOTHING_KNOWN,
    ) -> tuple[AgentTool, dict[str, JsonValue], Subject]:
        """This call of the run: its tool, its arguments as they are kept, and what the policy sees of it.

        Raises ``InvalidCall`` when the arguments do not fit, or there is no such tool.
        """
        declared = self.toolbox.get(tool)
        if declared is None:
            raise InvalidCall({"tool": f"There is no tool named {tool}."})
        checked = declared.check(args)
        plain = write_down(checked)
        asks, own_reason = declared.asks(checked)
        subject = Subject(
            place=self._place(state, declared),
            values=checked.model_dump(),
            shown=show_args(plain, declared.parameters),
            size=len(dump_text(plain)),
            asks_by_itself=asks,
            own_reason=own_reason,
            else_asked=self.access.those_who_may("steer") if declared.is_question else None,
            requester_groups=around.requester.groups,
            requester_kind=around.requester.kind,
            requester_unknown=around.requester.why,
            tainted=bool(state.tainted_by),
        )
        return declared, plain, subject

    def judge(
        self,
        state: RunState,
        tool: str,
        args: Mapping[str, JsonValue],
        around: Circumstances = NOTHING_KNOWN,
    ) -> Judgement:
        """What is known of this call before it may run. Raises as ``as_seen``."""
        declared, plain, subject = self.as_seen(state, tool, args, around)
        verdict = self.policy.judge(subject, around)
        if state.tainted_by:
            verdict = verdict.model_copy(update={"tainted_by": state.tainted_by})
        if self.is_dry(state):
            verdict = verdict.model_copy(update={"dry_run": True})
        self._warn_once(tool, self.policy.what_it_lacks(subject, verdict))
        return Judgement(
            tool=tool,
            title=declared.title,
            effect=declared.effect,
            args=plain,
            parameters=declared.parameters,
            schema_digest=declared.schema_digest,
            verdict=verdict,
            can_preview=declared.preview is not None,
            preview_must_match=declared.preview_must_match,
            is_question=declared.is_question,
        )

    def limits_of(self, state: RunState, tools: Iterable[str], at: datetime) -> frozenset[str]:
        """The keys of the limits that calls of these tools may touch at that time."""
        found = (self.toolbox.get(tool) for tool in set(tools))
        places = (self._place(state, tool) for tool in found if tool is not None)
        return frozenset(key for place in places for key in self.policy.limits_of(place, at))

    def _place(self, state: RunState, tool: AgentTool) -> Place:
        return Place(
            tool=tool.name,
            agent=self.name,
            requester=state.requester,
            channel=state.channel,
            session=state.session,
            run_id=state.run_id,
            parameters=tool.parameters,
        )

    def is_dry(self, state: RunState) -> bool:
        """Is nothing of this run carried out here? Where either says so, the run or the agent as it is now."""
        return self.dry_run or state.is_dry_run

    def _warn_once(self, tool: str, lack: str | None) -> None:
        if lack is not None and lack not in self._warned:
            self._warned.add(lack)
            log.warning("agent %s, a call to %s: %s", self.name, tool, lack)


def name_of(agents: Iterable[str], said: str) -> str | None:
    """The agent that is named so: capitals make no other name. None: none is."""
    return next((name for name in agents if name.casefold() == said.casefold()), None)


def by_name(agents: Iterable[Agent]) -> Mapping[str, Agent]:
    """Raises ``ConfigError`` when two have one name, however it is written, or there is none."""
    named: dict[str, Agent] = {}
    for agent in agents:
        if name_of(named, agent.name) is not None:
            raise ConfigError(f"Two agents are named {agent.name}.")
        named[agent.name] = agent
    if not named:
        raise ConfigError("There is no agent.")
    return named


def schemas_of(agents: Mapping[str, Agent]) -> dict[str, Mapping[str, Any]]:
    """Of every tool that an agent has here, by its name: the JSON schema of its arguments."""
    specs = (spec for agent in agents.values() for spec in agent.toolbox.specs)
    return {spec.name: spec.parameters for spec in specs}
