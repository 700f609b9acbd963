"""What a run costs as it grows: the bytes of each append, and reading and folding a thousand events."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path
from statistics import median

from agent.rules.events import ModelReplied
from agent.rules.fold import fold
from agent.rules.ids import RunId
from benchmarks.figures import figure
from benchmarks.store.appends import TEXT, held, opened
from store import SqlStore
from tests.store.story import replied, stamps

SHORT, LONG, LOOKS = 10, 1_000, 9
MOST_BYTES = 1.15
#: How often the raw rows could be read while they are read, checked and folded.
MOST_READ = 15.0
_ROWS = "SELECT seq, event_id, at, hash, body FROM journal WHERE run_id = ? ORDER BY seq"


async def figures(folder: Path) -> AsyncIterator[dict[str, object]]:
    path = folder / "growing.db"
    async with opened(f"sqlite:///{path}") as store:
        (short,), (long,) = await held(store, 1, "short"), await held(store, 1, "long")
        for lease, events in ((short, SHORT), (long, LONG)):
            for _ in range(events):
                # Each was asked when the one before was there already, as a run's replies are.
                event: ModelReplied = replied(text=TEXT)
                await store.journal.record(
                    lease.run_id, stamps(store.clock, event), fence=lease.fence
                )
        name = f"bytes an event, N={LONG} / N={SHORT}"
        bytes_of = {lease.run_id: _bytes(path, lease.run_id) for lease in (short, long)}
        per_event = (bytes_of[long.run_id] / LONG, bytes_of[short.run_id] / SHORT)
        yield figure(name, per_event[0] / per_event[1], MOST_BYTES, bytes_an_event=per_event[0])
        yield await _read(store, path, long.run_id)


def _bytes(path: Path, run_id: RunId) -> float:
    """Of all that was written for its facts but the first."""
    columns = "length(event_id) + length(hash) + length(body) + length(run_id) + 16"
    with closing(sqlite3.connect(path)) as connection:
        statement = f"SELECT sum({columns}) FROM journal WHERE run_id = ? AND seq > 1"
        ((found,),) = connection.execute(statement, (run_id,))
        return float(found)


async def _read(store: SqlStore, path: Path, run_id: RunId) -> dict[str, object]:
    raw, ours = [], []
    for _ in range(LOOKS):
        begun = time.perf_counter()
        with closing(sqlite3.connect(path)) as connection:
            assert len(connection.execute(_ROWS, (run_id,)).fetchall()) == LONG + 1
        read = time.perf_counter()
        fold(await store.journal.read(run_id))
        ours.append(time.perf_counter() - read)
        raw.append(read - begun)
    ratio = median(b / a for a, b in zip(raw, ours, strict=True))
    name = f"read and fold of {LONG} events / their rows, raw"
    return figure(name, ratio, MOST_READ, ms=median(ours) * 1e3, raw_ms=median(raw) * 1e3)
