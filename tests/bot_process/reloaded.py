"""A process whose file changes under it: a real file, a real store, a runtime of what stands in it."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from agent import Decider, Principal, Runtime
from agent.control_record import Source
from agent.rules.control import PolicyLoaded
from agent.rules.state import RunState
from bot.config import load_config
from bot.reloading import Reloading
from store import open_store

ALICE = Principal("slack:T0PILOT:U0ALICE")
BOB = Decider(Principal("slack:T0PILOT:U0BOB"), user="U0BOB")


def file_of(rule: str, *, tools: str = "tests.bot_process.paying", more: str = "") -> str:
    return f"""\
owners: {{users: [U0BOB]}}
agents:
  payer: {{model: demo, tools: [{tools}]{more}}}
policy:
  - {rule}
"""


ALLOW, ASK = file_of("{tool: pay, action: allow}"), file_of("{tool: pay, action: ask}")
DENY = file_of("{tool: pay, action: deny, reason: not today}")
#: Nothing of it can be in force.
WRONG = file_of("{tool: pay, action: dney}")


def put(path: Path, text: str) -> None:
    """As whoever deploys does it: all at once."""
    new = path.with_suffix(".new")
    new.write_text(text)
    os.replace(new, path)


@dataclass
class Reloaded:
    path: Path
    runtime: Runtime
    reloading: Reloading

    async def pay(self, amount: int = 5) -> RunState:
        """Up to its end, or until it waits for somebody."""
        run_id = await self.runtime.start(f"pay amount={amount}", requester=ALICE)
        return await self.runtime.settle(run_id)

    async def loads(self) -> list[PolicyLoaded]:
        events = [one.event for one in await self.runtime.store.control.read()]
        return [event for event in events if isinstance(event, PolicyLoaded)]


@asynccontextmanager
async def process(path: Path, url: str, name: str = "proc_1") -> AsyncIterator[Reloaded]:
    """It has begun with what stands in ``path``; nobody looks at that unless ``going_on`` does."""
    config, store = load_config(path), await open_store(url)
    try:
        runtime = Runtime(config.agents, store)
        reloading = Reloading(path, config, runtime, Source("test", name))
        await reloading.record()
        yield Reloaded(path, runtime, reloading)
    finally:
        await store.close()
