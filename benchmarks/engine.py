"""What the engine costs over the store's own appends, and whether that grows with a run.

A step is one model reply with one call, up to the next request. The model and the tools take no time.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Literal

from agent import Agent, ModelCall, ModelReply, Policy, Principal, Runtime, Toolbox, tool
from agent.engine.advance import Engine
from agent.engine.guard import LeaseGuard
from agent.engine.new_ids import UuidIds
from agent.ports import ModelRequest
from agent.rules.ids import RunId
from benchmarks.figures import figure
from benchmarks.measured import MeasuredJournal, Syncs
from store import open_store
from tests.agent.engine.crashing import StoreWith

TERM = timedelta(seconds=60)
LONG, SHORT = 1_000, 10


@tool(approval=False, effect="read")
async def look(n: int) -> int:
    """Look."""
    return n


@tool(approval=False, effect="once")
async def act(n: int) -> int:
    """Act."""
    return n


@dataclass
class EndlessModel:
    """Proposes the same call again and again, ``steps`` times; notes when it was asked."""

    steps: int
    tool_name: str
    name: str = "endless"
    asked_at: list[float] = field(default_factory=list)

    async def reply(self, request: ModelRequest) -> ModelReply:
        self.asked_at.append(time.perf_counter())
        if len(self.asked_at) > self.steps:
            return ModelReply(text="done")
        return ModelReply(calls=(ModelCall("c", self.tool_name, '{"n": 1}'),))


@dataclass(frozen=True)
class Played:
    """One run: seconds of each step, of each append; bytes and syncs of the whole."""

    steps: list[float]
    appends: list[float]
    bytes: int
    syncs: int


async def figures(folder: Path) -> AsyncIterator[dict[str, object]]:
    """Each with its ``ratio`` and the ``target`` that it must not exceed."""
    await play(folder, 50, "read")  # Warm: imports, pages, caches.
    read = await play(folder, LONG, "read")
    once = await play(folder, LONG, "once")
    append = median(read.appends)
    per_step = len(read.appends) / len(read.steps)
    overhead = (median(read.steps) - append * per_step) / append
    yield figure("engine overhead a step / one append", overhead, 1.0, append_ms=append * 1e3)
    first, last = read.steps[: LONG // 10], read.steps[-LONG // 10 :]
    yield figure("time a step, the last tenth / the first", median(last) / median(first), 1.15)
    short = await play(folder, SHORT, "read")
    yield figure(
        f"bytes a step, N={LONG} / N={SHORT}",
        (read.bytes / LONG) / (short.bytes / SHORT),
        1.15,
        bytes_a_step=read.bytes / LONG,
    )
    yield figure("syncs a step, read", read.syncs / LONG, 1.1)
    yield figure("syncs a step, once", once.syncs / LONG, 2.1)
    yield await resume(folder)


async def play(folder: Path, steps: int, effect: Literal["read", "once"]) -> Played:
    tool_ = look if effect == "read" else act
    model = EndlessModel(steps, tool_.name)
    store = await open_store(f"sqlite:///{folder / f'{effect}-{steps}.db'}")
    syncs = Syncs()
    try:
        journal = MeasuredJournal(store.journal)
        agent = Agent("bench", model, Toolbox([tool_]), Policy())
        run_id = await Runtime([agent], store).start("go", requester=Principal("cli:bench"))
        (lease,) = await store.run_leases.claim("bench", TERM, 1)
        engine = Engine(StoreWith(store, journal), {agent.name: agent}, UuidIds())
        before = syncs.count
        guard = LeaseGuard(lease, TERM * 60)
        await engine.advance(guard, asyncio.Event())
        asked = model.asked_at
        took = [later - earlier for earlier, later in pairwise(asked)]
        assert (await Runtime([agent], store).state(run_id)).answer == "done"
        return Played(took, journal.seconds, journal.bytes, syncs.count - before)
    finally:
        syncs.close()
        await store.close()


async def resume(folder: Path) -> dict[str, object]:
    """Folding a long run, against reading and validating its rows alone."""
    store = await open_store(f"sqlite:///{folder / f'once-{LONG}.db'}")
    try:
        runtime = Runtime([Agent("bench", EndlessModel(0, "act"), Toolbox([act]))], store)
        run_id: RunId = (await store.lists.runs(limit=1))[0].run_id
        reads, folds = [], []
        for _ in range(7):
            begun = time.perf_counter()
            await store.journal.read(run_id)
            read = time.perf_counter()
            await runtime.state(run_id)
            folds.append(time.perf_counter() - read)
            reads.append(read - begun)
        return figure(
            f"resume of {LONG} steps / reading and validating its rows",
            median(folds) / median(reads),
            1.5,
            seconds=median(folds),
        )
    finally:
        await store.close()
