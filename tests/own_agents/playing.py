"""An example's own file, tools and rules, played with the demo's model on a store."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from agent import Answer, Approve, Decider, Deny, Principal, Runtime, Steer
from agent.rules.ids import RunId
from agent.rules.state import Approval, RunState
from bot.config import load_config
from bot.config_mcp import started
from store import open_store
from tests.agent.engine.clock import SteppedClock
from tests.store.files import with_tables

EXAMPLES = Path(__file__).parents[2] / "examples"
FINANCE = frozenset({"S0FINANCE"})


def person(user: str, groups: frozenset[str] = frozenset()) -> Decider:
    return Decider(Principal(f"slack:T0PILOT:{user}"), user, groups)


ALICE = person("U0ALICE")
BOB, FRANK = person("U0BOB", FINANCE), person("U0FRANK", FINANCE)


@dataclass(frozen=True)
class Play:
    """One example, asked by Alice."""

    runtime: Runtime
    clock: SteppedClock

    async def ask(self, words: str, by: Decider = ALICE) -> RunState:
        run_id = await self.runtime.start(words, requester=by.principal, wait=True)
        return await self.runtime.state(run_id)

    async def asked(self, run_id: RunId) -> Approval:
        """The one thing that people are asked."""
        (approval,) = (await self.runtime.state(run_id)).open_approvals
        return approval

    async def decide(
        self, run_id: RunId, decision: Approve | Deny | Steer | Answer, by: Decider
    ) -> RunState:
        approval = await self.asked(run_id)
        return await self.runtime.decide(approval.id, decision, by, wait=True)


@asynccontextmanager
async def playing(example: str, folder: Path) -> AsyncIterator[Play]:
    clock = SteppedClock()
    store = await open_store(with_tables(folder / "pilothouse.db"), clock=clock)
    try:
        config = load_config(EXAMPLES / example / "pilothouse.yml")
        async with started(config.servers):
            assert config.check_tools() == ()
            yield Play(Runtime(config.agents, store), clock)
    finally:
        await store.close()
