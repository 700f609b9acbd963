"""What a configuration makes of a call that nobody proposed: judged as the engine would, and nothing is done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import Literal

from pydantic import JsonValue

from agent.engine.agents import Agent, name_of
from agent.rules.circumstances import Circumstances
from agent.rules.freeze import FreezeWindow
from agent.rules.ids import Principal, RunId, SessionId
from agent.rules.judgement import InvalidCall
from agent.rules.policy import Subject, Weighed
from agent.rules.requesters import OPERATOR, Requester, is_operator
from agent.rules.state import RunState
from bot.config_tests import ExampleCall

#: An example has no run; one that it could have.
_NO_TIME = datetime(2000, 1, 1, tzinfo=UTC)
_NOT_ASKED = "Slack is not asked here"


class CantBeJudged(Exception):
    """There is no such call here; the text says why."""


@dataclass(frozen=True, slots=True)
class Frozen:
    """The window that would keep a call longest, and until when."""

    window: FreezeWindow
    until: datetime

    @property
    def in_words(self) -> str:
        return f"frozen until {self.window.end_in_words(self.until)} ({self.window.in_words})"


@dataclass(frozen=True, slots=True)
class Seen:
    """A call as the policy sees it, whose it would be, and what the policy makes of it."""

    agent: Agent
    subject: Subject
    weighed: Weighed
    #: None: no window is open for it then, or nobody said when it is.
    frozen: Frozen | None = None

    @property
    def outcome(self) -> Literal["allow", "ask", "deny", "frozen"]:
        """What is asked about is asked about at any time, and what is refused waits for nothing."""
        action = self.weighed.verdict.action
        return "frozen" if action == "allow" and self.frozen is not None else action


def weigh_example(agents: Sequence[Agent], call: ExampleCall, at: datetime | None = None) -> Seen:
    """What becomes of the example at that time; of ``agents`` the first is meant by whoever names none. Raises
    ``CantBeJudged``."""
    agent = _agent(agents, agents[0].name if call.agent is None else call.agent)
    state = RunState(
        run_id=RunId("run_example"),
        agent=agent.name,
        session=SessionId(call.session),
        prompt="",
        requester=Principal(call.requester),
        channel=call.channel,
        place=None,
        started_at=_NO_TIME,
        seq=0,
        updated_at=_NO_TIME,
    )
    groups = None if call.groups is None else frozenset(call.groups)
    requester = Requester(groups=groups, kind=call.kind, why="the example does not say")
    subject = _subject(agent, state, call.tool, call.args, requester)
    seen = _weighed(agent, replace(subject, tainted=call.tainted), at or _NO_TIME)
    return seen if at is None else replace(seen, frozen=_frozen(agent, subject.place.tool, at))


def weigh_call(
    agents: Sequence[Agent], state: RunState, tool: str, args: Mapping[str, JsonValue]
) -> Seen:
    """What would become of this call of a run. Raises ``CantBeJudged``."""
    agent = _agent(agents, state.agent)
    requester = OPERATOR if is_operator(state.requester) else Requester(why=_NOT_ASKED)
    seen = _weighed(agent, _subject(agent, state, tool, args, requester))
    if (failed := seen.weighed.failed) is not None and failed.endswith(_NOT_ASKED):
        # A bot would have looked it up, and not asked people for want of it.
        raise CantBeJudged(failed)
    return seen


def _weighed(agent: Agent, subject: Subject, at: datetime = _NO_TIME) -> Seen:
    """As if nothing were used of any limit: what is, the file does not say."""
    keys = agent.policy.limits_of(subject.place, at)
    around = Circumstances(used=dict.fromkeys(keys, Decimal()), at=at)
    weighed = agent.policy.weigh(subject, around)
    # Nor is it to be said how much is left, and until when.
    verdict = weighed.verdict.model_copy(update={"limit": None})
    return Seen(agent, subject, replace(weighed, verdict=verdict))


def _frozen(agent: Agent, tool: str, at: datetime) -> Frozen | None:
    windows = (one for one in agent.policy.freeze if one.is_about(tool))
    open_then = [Frozen(one, until) for one in windows if (until := one.ends_at(at)) is not None]
    return max(open_then, key=lambda one: one.until, default=None)


def _agent(agents: Sequence[Agent], named: str) -> Agent:
    found = name_of((agent.name for agent in agents), named)
    if found is None:
        there = ", ".join(agent.name for agent in agents)
        raise CantBeJudged(f"there is no agent {named}; there are: {there}")
    return next(agent for agent in agents if agent.name == found)


def _subject(
    agent: Agent,
    state: RunState,
    tool: str,
    args: Mapping[str, JsonValue],
    requester: Requester,
) -> Subject:
    if agent.toolbox.get(tool) is None:
        if agent.toolbox.may_have(tool):
            raise CantBeJudged(
                f"{tool} is a tool of an MCP server, which was not started; --servers starts it"
            )
        known = ", ".join(sorted(one.name for one in agent.toolbox)) or "none"
        raise CantBeJudged(f"{agent.name} has no tool {tool}; there are: {known}")
    try:
        return agent.as_seen(state, tool, args, Circumstances(requester=requester))[2]
    except InvalidCall as error:
        raise CantBeJudged(f"its arguments do not fit: {error}") from error
