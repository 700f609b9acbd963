"""Following a run as it goes on, in whatever process."""

from __future__ import annotations

from collections.abc import AsyncIterator

from agent.ports import Store
from agent.rules.ids import RunId
from agent.rules.recorded import Recorded

#: A missed wake-up costs this many seconds at most.
POLL = 1.0


async def follow(store: Store, run_id: RunId, after: int = 0) -> AsyncIterator[Recorded]:
    """The run's events behind ``after``, as they come, up to its end. Raises ``NotFound``."""
    while True:
        moves = store.wakeups.moves
        for recorded in await store.journal.read(run_id, after):
            yield recorded
            after = recorded.seq
        row = await store.lists.run(run_id)
        if row is not None and row.status != "active" and row.head_seq <= after:
            return
        await store.wakeups.wait(moves, POLL)
