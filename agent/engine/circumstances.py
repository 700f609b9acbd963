"""Looking up what a run's calls are judged by beside its journal."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection, Sequence, Set
from datetime import datetime
from typing import Final

from agent.engine.agents import Agent
from agent.ports import Directory, Store
from agent.rules.calls import Call
from agent.rules.circumstances import Circumstances
from agent.rules.ids import CallId, Principal
from agent.rules.limiting import held_by
from agent.rules.requesters import OPERATOR, UNKNOWN, Requester, is_operator
from agent.rules.standing import Grant
from agent.rules.state import RunState

log = logging.getLogger(__name__)

#: So long it is waited for word of who somebody is, in seconds; then it is not known, and people are asked.
LOOK_UP_TIMEOUT: Final = 5.0


async def circumstances_of(
    store: Store,
    agent: Agent,
    state: RunState,
    now: datetime,
    in_flight: Set[CallId] = frozenset(),
    *,
    directory: Directory | None = None,
    steers: bool = False,
) -> Circumstances:
    """As they stand ``now``, for what is to be judged, or begun, now. ``in_flight``: what has begun here, and need
    not begin again. ``steers``: what waits for people is judged too, with other arguments. Raises ``StoreError``."""
    # Before all else: what changes meanwhile is newer than this.
    verdict_seq, switches = await store.control.switches_on()
    idle = [call for call in state.open_calls if call.id not in in_flight]
    begun = {call.tool for call in idle if call.status in ("proposed", "ready", "started")}
    grants: Sequence[Grant] = ()
    if begun and agent.policy.may_grant:
        grants = await store.control.grants_in_force(state.agent, state.run_id, state.session)
    touched = [call.tool for call in state.open_calls if _may_touch_limits(call)]
    limits = agent.limits_of(state, touched, now) if agent.policy.may_limit else frozenset()
    used = await store.limits.used(limits) if limits else {}
    # An agent's decider may steer what is about to be asked.
    asked = {
        call.tool
        for call in idle
        if call.status == "asking" or (steers and call.status == "waiting")
    }
    groups = agent.policy.groups_of_requester(begun | asked)
    requester = UNKNOWN if groups is None else await _look_up(directory, state.requester, groups)
    return Circumstances(
        verdict_seq, switches, grants=grants, used=used, at=now, requester=requester
    )


def _may_touch_limits(call: Call) -> bool:
    """Is it judged, steered to other arguments, or begun once more? What was begun counts already."""
    return call.status != "unknown" and not (call.status == "started" and held_by(call))


async def _look_up(
    directory: Directory | None, principal: Principal, groups: Collection[str]
) -> Requester:
    """Whatever goes wrong: it is not known then."""
    if is_operator(principal):
        return OPERATOR
    if directory is None:
        return Requester(why="nobody can be looked up here")
    try:
        async with asyncio.timeout(LOOK_UP_TIMEOUT):
            return await directory.requester(principal, groups)
    except TimeoutError:
        log.warning("looking up %s took too long", principal)
        return Requester(why="looking them up took too long")
