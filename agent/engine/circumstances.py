"""Looking up what a run's calls are judged by beside its journal."""

from __future__ import annotations

from agent.engine.agents import Agent
from agent.ports import Store
from agent.rules.circumstances import NOTHING_KNOWN, Circumstances
from agent.rules.state import RunState


async def circumstances_of(store: Store, agent: Agent, state: RunState) -> Circumstances:
    """As they stand now, for what is to be judged now; nothing is looked up where nothing is. Raises ``StoreError``."""
    is_judged = any(call.status in ("proposed", "ready") for call in state.open_calls)
    if not (is_judged and agent.policy.may_grant):
        return NOTHING_KNOWN
    return Circumstances(
        grants=await store.control.grants_in_force(state.agent, state.run_id, state.session)
    )
