"""Looking up what a run's calls are judged by beside its journal."""

from __future__ import annotations

from collections.abc import Set

from agent.engine.agents import Agent
from agent.ports import Store
from agent.rules.circumstances import Circumstances
from agent.rules.ids import CallId
from agent.rules.state import RunState


async def circumstances_of(
    store: Store, agent: Agent, state: RunState, in_flight: Set[CallId] = frozenset()
) -> Circumstances:
    """As they stand now, for what is to be judged, or begun, now. ``in_flight``: what has begun here, and need
    not begin again. Raises ``StoreError``."""
    # Before all else: what changes meanwhile is newer than this.
    verdict_seq, switches = await store.control.switches_on()
    idle = (call for call in state.open_calls if call.id not in in_flight)
    is_judged = any(call.status in ("proposed", "ready", "started") for call in idle)
    if not (is_judged and agent.policy.may_grant):
        return Circumstances(verdict_seq, switches)
    return Circumstances(
        verdict_seq,
        switches,
        grants=await store.control.grants_in_force(state.agent, state.run_id, state.session),
    )
