"""Which agent is meant: the one that is named, else the channel's, else the default. Pure.

``refunds: ORD-3300`` names one. A word before a colon that is no agent's name is a word like any other.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from agent.engine.agents import Agent, name_of
from agent.rules.listing import join_words
from bot.slack.cards.text import quoted
from bot.slack.people import NotEligible

#: As it begins what somebody says: a name, and a colon behind it.
_NAMED: Final = re.compile(r"\s*([A-Za-z][\w-]*)\s*:(?!//)\s*(.*)", re.DOTALL)
#: So many channels are named where an agent is not to be had.
_SHOWN: Final = 5


@dataclass(frozen=True, slots=True)
class Meant:
    """Who is to do what."""

    agent: str
    prompt: str
    #: Was it named?
    is_named: bool = False


class AnswersElsewhere(NotEligible):
    """Whoever is meant does not answer there, or nobody does; ``why`` says who answers where."""


def agent_named(agents: Iterable[str], text: str) -> tuple[str, str] | None:
    """The agent that ``text`` begins by naming, however that is written, and what it is to do; None where it names
    none."""
    match = _NAMED.fullmatch(text)
    if match is None:
        return None
    named = name_of(agents, match[1])
    return None if named is None else (named, match[2].strip())


def without_own_name(agent: str, text: str) -> str:
    """What is said to this agent, its name taken away."""
    named = agent_named([agent], text)
    return named[1] if named is not None else text


def meant_by(agents: Mapping[str, Agent], user: str, channel: str, text: str) -> Meant:
    """The agent that ``user`` means with ``text`` in this channel, or direct message, and what it is to do.

    Raises ``AnswersElsewhere``."""
    if (named := agent_named(agents, text)) is not None:
        name, prompt = named
        if not may_be_named(agents[name], channel):
            raise AnswersElsewhere(user, f"{quoted(name, 40)} answers in {_where(agents[name])}")
        return Meant(name, prompt, is_named=True)
    if (here := agent_of(agents, channel)) is None:
        raise AnswersElsewhere(user, nobody_here(agents))
    return Meant(here.name, text)


def agent_of(agents: Mapping[str, Agent], channel: str) -> Agent | None:
    """The one that is meant in this channel by whoever names none: the channel's own, else the default; None where
    there is neither. Who writes to us directly and names none means the default, and the only one that there is."""
    own = next((one for one in agents.values() if channel in one.channels), None)
    if own is not None:
        return own
    first = next(iter(agents.values()))
    is_only = len(agents) == 1 and _is_direct(channel)
    return first if first.is_default or not first.channels or is_only else None


def may_be_named(agent: Agent, channel: str) -> bool:
    """Does it answer there to its name? Directly each of them does."""
    is_bound = bool(agent.channels) and not agent.is_default
    return not is_bound or channel in agent.channels or _is_direct(channel)


def choices(agents: Mapping[str, Agent], channel: str) -> Sequence[Agent]:
    """Those that answer there, the one that is meant there first."""
    there = [one for one in agents.values() if may_be_named(one, channel)]
    here = agent_of(agents, channel)
    return sorted(there, key=lambda one: one is not here)


def nobody_here(agents: Mapping[str, Agent]) -> str:
    """Completes "Nothing was started: …"."""
    bound = [one for one in agents.values() if one.channels]
    told = [f"{quoted(one.name, 40)} in {_where(one)}" for one in bound]
    return f"no agent answers here: {'; '.join(told)}"


def where_it_answers(agent: Agent) -> str:
    """In mrkdwn, to stand behind its name."""
    if agent.is_default or not agent.channels:
        own = f"; in {_where(agent)} anyway" if agent.channels else ""
        return f"wherever no other does{own}" if agent.is_default else "anywhere, by its name"
    return f"in {_where(agent)}"


def _where(agent: Agent) -> str:
    shown = [f"<#{channel}>" for channel in agent.channels[:_SHOWN]]
    more = len(agent.channels) - len(shown)
    return join_words([*shown, *([f"{more} more"] if more else [])])


def _is_direct(channel: str) -> bool:
    return channel.startswith("D")
