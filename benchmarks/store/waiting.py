"""What is looked for among much that waits, and more that was decided: claims, decisions, lists."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from datetime import timedelta
from pathlib import Path
from statistics import median

from agent.rules.decisions import Decider
from agent.rules.ids import Principal, RunId
from benchmarks.figures import figure
from benchmarks.store.appends import opened
from store import SqlStore
from tests.store.much import fill
from tests.store.server import running
from tests.store.story import decided, stamps

FEW, MANY, DECIDED, MILLION = 100, (10_000, 100_000), 20_000, 1_000_000
PAGE, LOOKS, MOST = 20, 15, 2.0
TERM = timedelta(hours=1)
BOB = Decider(Principal("slack:T1:UBOB"), "UBOB", frozenset({"S1"}))


async def figures(folder: Path, done: int = DECIDED) -> AsyncIterator[dict[str, object]]:
    """Among so many that were decided: with ``MILLION`` it takes minutes."""
    with running(is_durable=True) as server:
        for many in MANY:
            files = [f"sqlite:///{folder}/waiting-{many}-{n}.db" for n in (FEW, many)]
            async for one in _compared("SQLite", files, many, done):
                yield one
            with server.database() as few_url, server.database() as many_url:
                async for one in _compared("PostgreSQL", [few_url, many_url], many, done):
                    yield one


async def _compared(
    kind: str, urls: list[str], many: int, done: int
) -> AsyncIterator[dict[str, object]]:
    async with AsyncExitStack() as stack:
        stores = [await stack.enter_async_context(opened(url)) for url in urls]
        for url, waiting in zip(urls, (FEW, many), strict=True):
            fill(url, waiting, done)
        for name, look in _LOOKS.items():
            few, most = [], []
            for turn in range(LOOKS):
                few.append(await _seconds(look, stores[0], turn))
                most.append(await _seconds(look, stores[1], turn))
            ratio = median(b / a for a, b in zip(few[1:], most[1:], strict=True))
            which = f"{name}, {kind}, among N={many} and {done} decided / N={FEW}"
            more = {"few_ms": median(few) * 1e3, "many_ms": median(most) * 1e3}
            yield figure(which, ratio, MOST, **more)


async def _pending(store: SqlStore, turn: int) -> None:
    assert len(await store.lists.approvals(limit=PAGE)) == PAGE


async def _mine(store: SqlStore, turn: int) -> None:
    assert len(await store.lists.waiting_for(BOB, limit=PAGE)) == PAGE


async def _lately(store: SqlStore, turn: int) -> None:
    assert len(await store.lists.decided_lately(BOB.principal, limit=PAGE)) >= PAGE


async def _claim(store: SqlStore, turn: int) -> None:
    assert len(await store.run_leases.claim("bench", TERM, 1)) == 1


async def _decide(store: SqlStore, turn: int) -> None:
    decision = decided(f"apr_{FEW - turn}", by=BOB.principal)
    run_id = RunId(f"run_{FEW - turn}")
    await store.journal.intend(run_id, stamps(store.clock, decision), expected_seq=2)


_Look = Callable[[SqlStore, int], Awaitable[None]]
_LOOKS: dict[str, _Look] = {
    f"a list of {PAGE} that wait": _pending,
    f"a list of {PAGE} that wait for somebody": _mine,
    f"a list of {PAGE} that somebody decided": _lately,
    "a claim": _claim,
    "a decision": _decide,
}


async def _seconds(look: _Look, store: SqlStore, turn: int) -> float:
    begun = time.perf_counter()
    await look(store, turn)
    return time.perf_counter() - begun
