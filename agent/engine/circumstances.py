"""Looking up what a run's calls are judged by beside its journal."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection
from typing import Final

from agent.engine.agents import Agent
from agent.ports import Directory, Store
from agent.rules.circumstances import Circumstances
from agent.rules.ids import Principal
from agent.rules.requesters import OPERATOR, Requester, is_operator
from agent.rules.state import RunState

log = logging.getLogger(__name__)

#: So long it is waited for word of who somebody is, in seconds; then it is not known, and people are asked.
LOOK_UP_TIMEOUT: Final = 5.0


async def circumstances_of(
    store: Store,
    agent: Agent,
    state: RunState,
    directory: Directory | None = None,
    *,
    steers: bool = False,
) -> Circumstances:
    """As they stand now, for what is to be judged now; nothing is looked up where nothing is. ``steers``: what waits
    for people is judged too, with other arguments. Raises ``StoreError``."""
    judged = {call.tool for call in state.open_calls if call.status in ("proposed", "ready")}
    grants = (
        await store.control.grants_in_force(state.agent, state.run_id, state.session)
        if judged and agent.policy.may_grant
        else ()
    )
    also = ("asking", "waiting") if steers else ("asking",)
    judged |= {call.tool for call in state.open_calls if call.status in also}
    groups = agent.policy.groups_of_requester(judged)
    if groups is None:
        return Circumstances(grants=grants)
    return Circumstances(
        grants=grants, requester=await _look_up(directory, state.requester, groups)
    )


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
