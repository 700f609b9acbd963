"""What one person's Home tab is to show: read from the store, as little of it as is shown."""

from __future__ import annotations

from collections.abc import Iterable

from agent.engine.in_force import FileStanding
from agent.mending import read_those_that_can_be
from agent.ports import RunRow
from agent.rules.ids import Principal
from agent.rules.state import Approval, RunState
from bot.slack.cards.home import DECIDED_SHOWN, RUNS_SHOWN, WAITING_SHOWN, Home, Own
from bot.slack.cards.home_asked import Asked
from bot.slack.links import link_to_thread, seen_by
from bot.slack.payloads import Actor
from bot.slack.services import Services
from bot.slack.switching.standing import switches_of
from bot.slack.waiting import what_waits


async def gathered(services: Services, actor: Actor) -> Home:
    """Raises ``NotEligible``, ``StoreError``, and one of ``SLACK_ERRORS``."""
    waiting = await what_waits(services, actor, limit=WAITING_SHOWN)
    principal = waiting.decider.principal
    rows, has_more = await _own_rows(services, principal)
    own = await read_those_that_can_be(services.runtime.store, (row.run_id for row in rows))
    return Home(
        waiting=await _asked(services, waiting.asked, actor.user),
        more_waiting=waiting.more,
        runs=[
            Own(services.shown(state), await link_to_thread(services, state))
            for state in own.values()
        ],
        has_more_runs=has_more,
        names_agents=len(services.runtime.agents) > 1,
        unreadable=len(rows) - len(own),
        decided=await _asked(services, await _decided(services, principal), actor.user),
        switches=await switches_of(services, actor),
        remarks=waiting.why_not_all,
        policy_file=await _policy_file(services, actor),
    )


async def _policy_file(services: Services, actor: Actor) -> FileStanding | None:
    """Where it is not what is in force, for those who own an agent."""
    standing = services.runtime.agents.standing
    if standing is None or not (standing.refused or standing.needs_restart):
        return None
    owners = [agent.policy.owners for agent in services.runtime.agents.values()]
    groups = {group for one in owners for group in one.groups}
    found = await services.people.look_up(actor.user, actor.team, groups=groups)
    users = {user for one in owners for user in one.users}
    return standing if found.decider.user in users or found.decider.groups else None


async def _asked(
    services: Services, asked: Iterable[tuple[Approval, RunState]], user: str
) -> list[Asked]:
    found = [(*one, await seen_by(services, one[1], one[0].id, user)) for one in asked]
    shown = ((one.id, services.shown(state), seen) for one, state, seen in found)
    return [Asked(state.approvals[id], state, seen.url, seen.words_at) for id, state, seen in shown]


async def _own_rows(services: Services, principal: Principal) -> tuple[list[RunRow], bool]:
    """Those that have not ended first, each kind newest first; and whether there are more."""
    lists, limit = services.runtime.store.lists, RUNS_SHOWN + 1
    active = await lists.runs(limit=limit, requester=principal, active_only=True)
    newest = await lists.runs(limit=limit, requester=principal)
    rows = list({row.run_id: row for row in (*active, *newest)}.values())
    return rows[:RUNS_SHOWN], len(rows) > RUNS_SHOWN


async def _decided(services: Services, principal: Principal) -> list[tuple[Approval, RunState]]:
    store = services.runtime.store
    rows = await store.lists.decided_lately(principal, limit=DECIDED_SHOWN)
    states = await read_those_that_can_be(store, (row.run_id for row in rows))
    found = [
        (states[row.run_id].approvals.get(row.approval_id), states[row.run_id])
        for row in rows
        if row.run_id in states
    ]
    return [(approval, state) for approval, state in found if approval is not None]
