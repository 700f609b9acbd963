"""Appends with few and many runs at once, on both databases, beside the floors of the same minute.

Each run is held by its own lease and appends one reply of a model after the other, as the engine does.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path
from statistics import median, quantiles

from agent.ports import Lease
from benchmarks.figures import figure
from benchmarks.store.floors import (
    each,
    in_use,
    one_transaction_each,
    postgres_at_once,
    sqlite_loop,
)
from store import SqlStore, open_store
from tests.store.server import running
from tests.store.story import begin, replied, stamps

ROUNDS, SECONDS = 7, 0.5
TERM = timedelta(hours=1)
#: How much of the floor's time an append may take, by how many runs append at once.
SQLITE_MOST = {1: 1 / 0.3, 10: 1 / 2, 50: 1 / 3.5}
POSTGRES_MOST = {1: 1 / 0.6, 10: 1 / 2.5}
SLOWEST_MOST = 0.1
TEXT = "x" * 250


@dataclass(frozen=True)
class Appended:
    """In a round: appends a second, and the seconds of each."""

    rate: float
    took: list[float]


async def figures(folder: Path) -> AsyncIterator[dict[str, object]]:
    with in_use(folder / "floor.db") as floor_file:
        async for one in _on_sqlite(folder, floor_file):
            yield one
    async for one in _on_postgres():
        yield one


async def _on_sqlite(folder: Path, floor_file: Path) -> AsyncIterator[dict[str, object]]:
    async with opened(f"sqlite:///{folder / 'appends.db'}") as store:
        for runs, most in SQLITE_MOST.items():
            leases = await held(store, runs)
            rounds, one_each, unsynced = [], [], []
            for _ in range(ROUNDS):
                floor = await asyncio.to_thread(sqlite_loop, floor_file, SECONDS)
                loop = partial(sqlite_loop, floor_file, SECONDS / 2, is_synced=False)
                unsynced.append(await asyncio.to_thread(loop))
                rounds.append((floor, await appended(store, leases)))
                if runs == max(SQLITE_MOST):
                    one_each.append(p99(await one_transaction_each(floor_file, runs, SECONDS)))
            yield _rate(
                f"SQLite, {runs} at once / the raw loop",
                rounds,
                most,
                # Without a sync: the rest of the floor's time is the disk's.
                floor_cpu_rate=median(unsynced),
            )
        slowest = [p99(one.took) for _, one in rounds]
        yield figure(
            f"p99 of an append, SQLite, {runs} at once / a transaction each",
            median(ours / theirs for ours, theirs in zip(slowest, one_each, strict=True)),
            SLOWEST_MOST,
            p99_ms=median(slowest) * 1e3,
            each_p99_ms=median(one_each) * 1e3,
        )


async def _on_postgres() -> AsyncIterator[dict[str, object]]:
    with running(is_durable=True) as server, server.database() as url:
        async with opened(url) as store:
            for runs, most in POSTGRES_MOST.items():
                leases = await held(store, runs)
                rounds = []
                for _ in range(ROUNDS):
                    floor = await postgres_at_once(url, runs, SECONDS)
                    rounds.append((floor, await appended(store, leases)))
                yield _rate(f"PostgreSQL, {runs} at once / one raw statement each", rounds, most)


@asynccontextmanager
async def opened(url: str) -> AsyncIterator[SqlStore]:
    store = await open_store(url)
    try:
        yield store
    finally:
        await store.close()


async def held(store: SqlStore, runs: int, name: str = "") -> list[Lease]:
    """New runs, each claimed, whoever else claims runs at the same time."""
    leases = []
    for n in range(runs):
        run_id = await begin(store.journal, store.clock, f"run_{name}_{runs}_{n}")
        leases.append(await store.run_leases.claim_one(run_id, f"of_{name}", TERM, seen_seq=1))
    return [lease for lease in leases if lease is not None]


async def appended(store: SqlStore, leases: list[Lease], seconds: float = SECONDS) -> Appended:
    async def append(n: int) -> None:
        lease = leases[n]
        events = stamps(store.clock, replied(text=TEXT))
        await store.journal.record(lease.run_id, events, fence=lease.fence)

    took, whole = await each(len(leases), seconds, append)
    return Appended(len(took) / whole, took)


def p99(took: list[float]) -> float:
    return quantiles(took, n=100)[-1]


def _rate(
    name: str, rounds: list[tuple[float, Appended]], most: float, **beside: float
) -> dict[str, object]:
    """``beside``: what the line says besides."""
    took = [one for _, appended in rounds for one in appended.took]
    return figure(
        f"an append, {name}",
        median(floor / one.rate for floor, one in rounds),
        most,
        rate=median(one.rate for _, one in rounds),
        floor_rate=median(floor for floor, _ in rounds),
        p50_ms=median(took) * 1e3,
        p99_ms=p99(took) * 1e3,
        **beside,
    )
