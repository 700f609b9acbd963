"""A store that measures what is done with it."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine, event

from agent.ports import Journal, NewestRun, StartsLimit, ThreadMessage
from agent.rules.control import StampedControl
from agent.rules.ids import RunId
from agent.rules.json_text import dump_text
from agent.rules.recorded import Recorded, Stamped, dump_event

T = TypeVar("T")


@dataclass
class MeasuredJournal:
    """The journal; keeps how long each append took (seconds) and how large it was (bytes)."""

    inner: Journal
    seconds: list[float] = field(default_factory=list)
    bytes: int = 0

    async def start(
        self,
        run_id: RunId,
        started: Stamped,
        *,
        key: str | None = None,
        behind: Sequence[Stamped] = (),
        newest: NewestRun | None = None,
        root: ThreadMessage | None = None,
        limit: StartsLimit | None = None,
    ) -> RunId:
        return await self.inner.start(
            run_id, started, key=key, behind=behind, newest=newest, root=root, limit=limit
        )

    async def read(self, run_id: RunId, after: int = 0) -> list[Recorded]:
        return await self.inner.read(run_id, after)

    async def intend(
        self,
        run_id: RunId,
        events: Sequence[Stamped],
        *,
        expected_seq: int,
        fence: int | None = None,
        control: Sequence[StampedControl] = (),
        redraws: str | None = None,
        verdict_seq: int | None = None,
    ) -> list[Recorded]:
        appending = self.inner.intend(
            run_id,
            events,
            expected_seq=expected_seq,
            fence=fence,
            control=control,
            redraws=redraws,
            verdict_seq=verdict_seq,
        )
        return await self._timed(appending, events)

    async def record(
        self, run_id: RunId, events: Sequence[Stamped], *, fence: int
    ) -> list[Recorded]:
        return await self._timed(self.inner.record(run_id, events, fence=fence), events)

    async def _timed(self, appending: Awaitable[T], events: Sequence[Stamped]) -> T:
        begun = time.perf_counter()
        appended = await appending
        self.seconds.append(time.perf_counter() - begun)
        self.bytes += sum(len(dump_text(dump_event(one.event)).encode()) for one in events)
        return appended


class Syncs:
    """Counts commits that wrote something: at ``synchronous=FULL`` each is one sync of the log."""

    def __init__(self) -> None:
        self.count = 0
        self._changes: dict[int, int] = {}
        event.listen(Engine, "commit", self._committed)

    def close(self) -> None:
        event.remove(Engine, "commit", self._committed)

    def _committed(self, connection: Connection) -> None:
        driver: Any = connection.connection.driver_connection
        changes = getattr(driver, "total_changes", None)
        if changes is not None and changes != self._changes.get(id(driver)):
            self._changes[id(driver)] = changes
            self.count += 1
