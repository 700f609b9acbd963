"""Who may read what happened in a run.

Its time line tells what was asked wherever that was put, also in channels that few are in. So it is for those who
know it anyhow: whoever asked for the run, whoever is named to decide or has decided something in it, and the owners,
who answer for its agent. That somebody is where its thread stands is not enough, nor that any full member may answer.
And what was said in its conversation stays there: who only decides, from elsewhere, reads of its calls and decisions.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from agent import Agent
from agent.rules.decisions import Decider, is_put_to
from agent.rules.rule import People
from agent.rules.state import Approval, RunState
from bot.slack.payloads import Actor
from bot.slack.services import Services
from bot.slack.sight import is_seen

#: All of it; or what was done and decided, without what anybody said.
Reading = Literal["all", "decisions"]


async def what_is_read(services: Services, actor: Actor, state: RunState) -> Reading | None:
    """How much of it is for them; None: nothing. What Slack does not tell means less. Raises ``NotEligible``."""
    member = await services.people.member(actor.user, actor.team)
    if member.principal in state.requesters:
        return "all"
    owners = _owners(services.runtime.agents, state)
    groups = {group for one in state.approvals.values() for group in one.approvers.all_groups}
    found = await services.people.look_up(
        actor.user, actor.team, groups=groups | set(owners.groups)
    )
    if _is_owner(found.decider, owners):
        return "all"
    if not _decides(found.decider, state):
        return None
    return "all" if await is_seen(services, state, member, None) else "decisions"


def _is_owner(decider: Decider, owners: People) -> bool:
    return decider.user in owners.users or not decider.groups.isdisjoint(owners.groups)


def _decides(decider: Decider, state: RunState) -> bool:
    return any(
        _has_decided(decider, approval) or is_put_to(approval, state.requesters, decider)
        for approval in state.approvals.values()
    )


def _has_decided(decider: Decider, approval: Approval) -> bool:
    words = [*(vote.voted for vote in approval.votes), approval.decided]
    return any(word is not None and word.by == decider.principal for word in words)


def _owners(agents: Mapping[str, Agent], state: RunState) -> People:
    """Of an agent that this process does not have, nobody is known."""
    agent = agents.get(state.agent)
    return People() if agent is None else agent.policy.owners
