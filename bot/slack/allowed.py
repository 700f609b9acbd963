"""Whether somebody may start, steer or stop an agent's runs, by the list that the agent has for it.

Asked anew each time: a list that names groups holds for who is in them at that moment.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from agent.rules.access import Doing
from agent.rules.decisions import Decider
from bot.slack.cards.mentions import name_choice
from bot.slack.cards.text import quoted
from bot.slack.choosing import AnswersElsewhere, Meant, meant_by
from bot.slack.payloads import Actor
from bot.slack.people import CouldNotLookUp, NotEligible, not_told
from bot.slack.services import Services

_DOING: Final[Mapping[Doing, str]] = {
    "start": "start or retry runs of {agent}",
    "steer": "say something to runs of {agent}",
    "stop": "pause, resume or stop runs of {agent}",
}


class NotListed(NotEligible):
    """A full member, but none of those whom the agent's list names; ``why`` says who they are."""


async def who_may(services: Services, actor: Actor, agent_name: str, what: Doing) -> Decider:
    """The member who is to do this to a run of that agent, with those groups of its list that they are in.

    Raises ``NotEligible``, whose ``why`` completes "Nothing was done: …" in mrkdwn: for who is no full member,
    also where the list names them; for who is not listed; for everybody where the agent is not here. It is
    ``CouldNotLookUp`` where Slack does not say what must be known to let them.
    """
    agent = services.runtime.agents.get(agent_name)
    named = agent.access.named_for(what) if agent is not None else None
    found = await services.people.look_up(
        actor.user, actor.team, groups=named.groups if named is not None else ()
    )
    if agent is None:
        why = f"there is no agent {quoted(agent_name, 40)} here, so nobody knows who may"
        raise NotListed(actor.user, why)
    if agent.access.may(what, found.decider):
        return found.decider
    doing = _DOING[what].format(agent=quoted(agent_name, 40))
    if found.unknown:
        error = next(iter(found.unknown.values()))
        raise CouldNotLookUp(actor.user, not_told(f"who may {doing}", error)) from error
    assert named is not None, "a full member who may not is not on a list"
    who = name_choice(agent.access.those_who_may(what))
    raise NotListed(actor.user, f"only {who} can {doing}")


async def who_may_start(
    services: Services, actor: Actor, channel: str, text: str
) -> tuple[Decider, Meant]:
    """Whoever may start a run of the agent that they mean with this text in that channel, and which it is. Raises as
    ``who_may`` does, and ``AnswersElsewhere`` where that agent does not answer there: to members alone."""
    try:
        meant = meant_by(services.runtime.agents, actor.user, channel, text)
    except AnswersElsewhere:
        await services.people.member(actor.user, actor.team)
        raise
    return await who_may(services, actor, meant.agent, "start"), meant
