"""Looking up what a run's calls are judged by beside its journal."""

from __future__ import annotations

from collections.abc import Sequence, Set
from datetime import datetime

from agent.engine.agents import Agent
from agent.ports import Store
from agent.rules.calls import Call
from agent.rules.circumstances import Circumstances
from agent.rules.ids import CallId
from agent.rules.limiting import held_by
from agent.rules.standing import Grant
from agent.rules.state import RunState


async def circumstances_of(
    store: Store,
    agent: Agent,
    state: RunState,
    now: datetime,
    in_flight: Set[CallId] = frozenset(),
) -> Circumstances:
    """As they stand ``now``, for what is to be judged, or begun, now. ``in_flight``: what has begun here, and need
    not begin again. Raises ``StoreError``."""
    # Before all else: what changes meanwhile is newer than this.
    verdict_seq, switches = await store.control.switches_on()
    idle = (call for call in state.open_calls if call.id not in in_flight)
    is_judged = any(call.status in ("proposed", "ready", "started") for call in idle)
    grants: Sequence[Grant] = ()
    if is_judged and agent.policy.may_grant:
        grants = await store.control.grants_in_force(state.agent, state.run_id, state.session)
    touched = [call.tool for call in state.open_calls if _may_touch_limits(call)]
    limits = agent.limits_of(state, touched, now) if agent.policy.may_limit else frozenset()
    used = await store.limits.used(limits) if limits else {}
    return Circumstances(verdict_seq, switches, grants=grants, used=used, at=now)


def _may_touch_limits(call: Call) -> bool:
    """Is it judged, steered to other arguments, or begun once more? What was begun counts already."""
    return call.status != "unknown" and not (call.status == "started" and held_by(call))
