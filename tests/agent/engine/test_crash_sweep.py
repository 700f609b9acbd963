"""A crash at every append, before and after its commit: the same ledger at the end.

After the crash nothing of the old object graph is left: a new store handle, a new model, a new
engine. Only the database and the shop's file go on.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest

from agent import Agent, Approve, Deny, Runtime, Steer, Toolbox
from agent.engine.advance import Engine
from agent.engine.guard import LeaseGuard
from agent.engine.new_ids import UuidIds
from agent.errors import AlreadyDecided
from agent.rules.decisions import Decider, Decision
from agent.rules.events import CallStarted
from agent.rules.fold import fold
from agent.rules.ids import Principal, RunId
from agent.rules.policy import Policy
from agent.rules.recorded import Recorded
from agent.rules.rule import People, Rule
from agent.rules.state import RunState
from bot.demo import tools as demo_tools
from bot.demo.model import DemoModel
from bot.demo.shop import Shop
from store import open_store
from tests.agent.engine.clock import SteppedClock
from tests.agent.engine.crashing import Crash, CrashingJournal, Fuse, StoreWith, When
from tests.agent.engine.strict import StrictModel
from tests.databases import POSTGRES, SQLITE, NewDatabase
from tests.examples import every

TERM = timedelta(seconds=30)
ALICE = Principal("slack:T0PILOT:U0ALICE")
BOB = Decider(Principal("slack:T0PILOT:U0BOB"), user="U0BOB", groups=frozenset({"S0FINANCE"}))
POLICY = Policy(
    owners=People(groups=("S0FINANCE",)),
    rules=(
        Rule(tool="search_policy", action="allow"),
        Rule(tool="process_refund", when="args.amount > 100", action="ask"),
        Rule(tool="process_refund", action="allow"),
    ),
)


@dataclass
class World:
    """What outlives a process: the database, the shop, time, and when the crash comes."""

    url: str
    clock: SteppedClock
    fuse: Fuse

    @asynccontextmanager
    async def process(self) -> AsyncIterator[tuple[Runtime, Engine]]:
        """A new process: every object is new."""
        opened = await open_store(self.url, clock=self.clock)
        store = StoreWith(opened, CrashingJournal(opened.journal, self.fuse))
        agent = Agent("refunds", StrictModel(DemoModel()), Toolbox.of_modules([demo_tools]), POLICY)
        try:
            yield (
                Runtime([agent], store),
                Engine(store, {agent.name: agent}, UuidIds()),
            )
        finally:
            await opened.close()

    async def survive(self, work: Callable[[Runtime, Engine], Awaitable[None]]) -> None:
        """Do the work in a process, and in as many more as it takes."""
        while True:
            try:
                async with self.process() as (runtime, engine):
                    await work(runtime, engine)
                    return
            except Crash:
                # Whoever held the lease is gone; it ends, and so does every call's deadline.
                self.clock.advance(TERM * 2)


async def work_what_is_due(engine: Engine) -> None:
    while leases := await engine.store.run_leases.claim("p", TERM, 10):
        for lease in leases:
            await engine.advance(LeaseGuard(lease, TERM), asyncio.Event())


async def play(world: World, decision: Decision) -> tuple[RunState, list[Recorded]]:
    """The whole story, whatever crashes on the way."""
    run_ids: list[RunId] = []

    async def begin(runtime: Runtime, engine: Engine) -> None:
        run_id = await runtime.start("refund ORD-3300 180", requester=ALICE, key="message-1")
        run_ids.append(run_id)

    async def work(runtime: Runtime, engine: Engine) -> None:
        await work_what_is_due(engine)

    async def decide(runtime: Runtime, engine: Engine) -> None:
        (approval, _) = (await runtime.approvals(waiting_only=False))[0]
        try:
            await runtime.decide(approval.id, decision, BOB)
        except AlreadyDecided:
            # Its commit was made before the crash: the click is answered with the truth.
            assert world.fuse.when == "after"

    for act in (begin, work, decide, work):
        await world.survive(act)

    histories: list[list[Recorded]] = []

    async def look(runtime: Runtime, engine: Engine) -> None:
        histories.append(await runtime.store.journal.read(run_ids[-1]))
        assert len(await runtime.runs()) == 1

    await world.survive(look)
    return fold(histories[-1]), histories[-1]


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shop:
    monkeypatch.setenv("PILOTHOUSE_DATA", str(tmp_path))
    return Shop(tmp_path)


STORIES: dict[str, tuple[Decision, dict[str, float], str]] = {
    "approve": (
        Approve(),
        {"ORD-3300": 180.0},
        "Refund of $180.00 for ORD-3300 is complete.",
    ),
    "deny": (
        Deny("too much"),
        {},
        "The refund of $180.00 for ORD-3300 was denied, and nothing was done. Reason: too much",
    ),
    "steer": (
        Steer({"amount": "90"}),
        {"ORD-3300": 90.0},
        "Refund of $90.00 for ORD-3300 is complete.",
    ),
    "guide": (
        Steer(guidance="refund only 40"),
        {"ORD-3300": 40.0},
        "The refund of $180.00 for ORD-3300 was not made. I was told: refund only 40\n"
        "Refund of $40.00 for ORD-3300 is complete.",
    ),
}


# A server takes its time to be opened again and again: of the stories the richest goes on both, and there
# each third point is enough.
BOTH = [*((SQLITE, story) for story in STORIES), (POSTGRES, "steer")]


@pytest.mark.parametrize(("kind", "story"), BOTH, indirect=["kind"])
@pytest.mark.parametrize("when", ["before", "after"])
async def test_a_crash_at_any_append_changes_nothing(
    kind: str, story: str, when: When, new_database: NewDatabase, tmp_path: Path, shop: Shop
) -> None:
    decision, ledger, answer = STORIES[story]
    for at in range(1, 100, every(3 if kind == POSTGRES else 2)):
        folder = tmp_path / f"{at}"
        with pytest.MonkeyPatch.context() as patch, new_database() as url:
            patch.setenv("PILOTHOUSE_DATA", str(folder))
            world = World(url, SteppedClock(), Fuse(at, when))
            state, history = await play(world, decision)
        assert Shop(folder).ledger() == ledger
        assert state.answer == answer
        # A read whose answer was lost runs again; nothing that was recorded does.
        for call in state.calls.values():
            starts = [r for r in history if _starts(r, call.id)]
            assert len(starts) == call.attempts <= 2
        if world.fuse.count < at:
            break
    assert at > 6, "the sweep has not met every append of the story"


def _starts(recorded: Recorded, call_id: str) -> bool:
    return isinstance(recorded.event, CallStarted) and recorded.event.call_id == call_id
