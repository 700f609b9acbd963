"""On which golden stories are played: ids are counted, and the clock is moved by hand."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import count
from pathlib import Path

from agent import Agent, Policy, Runtime, Toolbox, ToolContext, tool
from agent.engine.advance import Engine
from agent.engine.guard import LeaseGuard
from agent.errors import Interrupted
from agent.ports import ModelReply, ModelRequest, Store
from agent.rules.budgets import Budget
from agent.rules.circumstances import NOTHING_KNOWN, Circumstances
from agent.rules.events import Event
from agent.rules.ids import ApprovalId, EventId, RunId
from agent.rules.parts import (
    Approvers,
    Escalation,
    Patience,
    Verdict,
)
from agent.rules.people import say
from agent.rules.policy import Subject
from agent.rules.recorded import Recorded, Stamped
from agent.rules.rule import People
from agent.rules.state import RunState
from store import open_store
from tests.agent.engine.bench import ALICE, TERM
from tests.agent.engine.clock import SteppedClock
from tests.agent.engine.strict import StrictModel
from tests.store.files import with_tables

HOUR = timedelta(hours=1)
CHAIN = Patience(
    expires=3 * HOUR,
    on_expiry="escalate",
    remind=HOUR,
    escalate=(
        Escalation(after=2 * HOUR, groups=("S0LEGAL",)),
        Escalation(after=5 * HOUR, users=("U0CAROL",)),
    ),
)
DENIES = Patience(expires=HOUR, on_expiry="deny")
STOPS = Patience(expires=2 * HOUR, on_expiry="stop")


@dataclass
class CountedIds:
    """The Ids port: the first of each kind is its 1. Events of different stories have different ids."""

    story: int
    numbers: dict[str, Iterator[int]] = field(default_factory=dict)

    def new(self, prefix: str) -> str:
        number = next(self.numbers.setdefault(prefix, count(1)))
        return f"run_golden_{self.story}_{number}" if prefix == "run" else f"{prefix}_{number}"

    def event(self) -> str:
        number = next(self.numbers.setdefault("event", count(1)))
        return f"019ad{self.story:03x}-0000-7000-8000-{number:012d}"


class Patient(Policy):
    """Asks finance about whatever has an effect, and waits as the tool's name says."""

    def judge(self, subject: Subject, around: Circumstances = NOTHING_KNOWN) -> Verdict:
        patience = {"pay": CHAIN, "ship": DENIES, "close": STOPS}.get(subject.place.tool)
        return Verdict(
            action="ask" if patience else "allow",
            reason="over the threshold" if patience else "no rule asks",
            rule=f"ask {subject.place.tool}" if patience else "allow",
            policy_version="policy-1",
            approvers=Approvers(groups=("S0FINANCE",)) if patience else Approvers(),
            patience=patience or Patience(),
        )


class Unversioned(Policy):
    """As it is written, under a version that no later key changes."""

    def judge(self, subject: Subject, around: Circumstances = NOTHING_KNOWN) -> Verdict:
        return super().judge(subject, around).model_copy(update={"policy_version": "policy-1"})


@dataclass
class Script:
    """A model that gives one reply after the other; what happens while it thinks comes before each."""

    replies: list[ModelReply | Callable[[], Awaitable[ModelReply]]]
    name: str = "scripted"

    async def reply(self, request: ModelRequest) -> ModelReply:
        given = self.replies.pop(0)
        return given if isinstance(given, ModelReply) else await given()


@dataclass
class Stage:
    """One process on one store."""

    store: Store
    clock: SteppedClock
    runtime: Runtime
    engine: Engine
    ids: CountedIds
    script: Script

    async def work(self, after: timedelta = timedelta()) -> None:
        """Let the time pass, then advance whatever is due until nothing is."""
        self.clock.advance(after)
        while leases := await self.store.run_leases.claim("p", TERM, 10):
            for lease in leases:
                await self.engine.advance(LeaseGuard(lease, TERM), asyncio.Event())

    async def say(self, run_id: RunId, text: str) -> None:
        state = await self.runtime.state(run_id)
        await self.append(state, say(state, ALICE, text))

    async def append(self, state: RunState, events: Sequence[Event]) -> None:
        stamped = [Stamped(EventId(self.ids.event()), self.clock.now(), one) for one in events]
        await self.store.journal.intend(state.run_id, stamped, expected_seq=state.seq)

    async def asked(self, run_id: RunId) -> ApprovalId:
        """The one question that is open."""
        (approval,) = (await self.runtime.state(run_id)).open_approvals
        return approval.id

    async def journal(self, run_id: RunId) -> list[Recorded]:
        return await self.store.journal.read(run_id)


@tool(effect="idempotent")
def pay(order: str, context: ToolContext) -> str:
    """Pay an order."""
    return f"{order} is paid"


@tool(effect="once")
def ship(order: str) -> str:
    """Ship an order."""
    return f"{order} is shipped"


@tool(effect="once")
def close(order: str) -> str:
    """Close an order."""
    return f"{order} is closed"


@tool(effect="read")
def find(order: str) -> str:
    """Find an order."""
    return f"{order} is open"


@tool(effect="once")
def print_label(order: str) -> str:
    """Print a label, on a printer that does not answer."""
    raise Interrupted(order)


@asynccontextmanager
async def stage(
    folder: Path,
    story: int,
    budget: Budget | None = None,
    context_tokens: int | None = None,
    *,
    dry_run: bool = False,
    policy: Policy | None = None,
) -> AsyncIterator[Stage]:
    clock, ids, script = SteppedClock(), CountedIds(story), Script([])
    store = await open_store(with_tables(folder / "runs.db"), clock=clock)
    toolbox = Toolbox([pay, ship, close, find, print_label])
    policy = policy or Patient(owners=People(users=("U0CAROL",)))
    agent = Agent(
        "orders",
        StrictModel(script),
        toolbox,
        policy,
        budget=budget,
        context_tokens=context_tokens,
        dry_run=dry_run,
    )
    engine = Engine(store, {agent.name: agent}, ids)
    try:
        yield Stage(store, clock, Runtime([agent], store, ids=ids), engine, ids, script)
    finally:
        await store.close()
