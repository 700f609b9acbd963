"""Looking up what a run's calls are judged by beside its journal."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from agent.engine.agents import Agent
from agent.ports import Store
from agent.rules.calls import Call
from agent.rules.circumstances import Circumstances
from agent.rules.limiting import held_by
from agent.rules.standing import Grant
from agent.rules.state import RunState


async def circumstances_of(
    store: Store, agent: Agent, state: RunState, now: datetime
) -> Circumstances:
    """As they stand ``now``, for what is to be judged now; nothing is looked up where nothing is. Raises
    ``StoreError``."""
    grants: Sequence[Grant] = ()
    is_judged = any(call.status in ("proposed", "ready") for call in state.open_calls)
    if is_judged and agent.policy.may_grant:
        grants = await store.control.grants_in_force(state.agent, state.run_id, state.session)
    touched = [call.tool for call in state.open_calls if _may_touch_limits(call)]
    limits = agent.limits_of(state, touched, now) if agent.policy.may_limit else frozenset()
    used = await store.limits.used(limits) if limits else {}
    return Circumstances(grants=grants, used=used, at=now)


def _may_touch_limits(call: Call) -> bool:
    """Is it judged, steered to other arguments, or begun once more? What was begun counts already."""
    return call.status != "unknown" and not (call.status == "started" and held_by(call))
