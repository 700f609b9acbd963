"""A store that measures what is done with it."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine, event

from agent.rules.ids import RunId
from agent.rules.json_text import dump_text
from agent.rules.recorded import Stamped, dump_event
from tests.agent.engine.journal_around import JournalAround, Way

T = TypeVar("T")


@dataclass
class MeasuredJournal(JournalAround):
    """The journal; keeps how long each append to a run that is there took (seconds), and how large it was (bytes)."""

    seconds: list[float] = field(default_factory=list)
    bytes: int = 0

    async def around(
        self, way: Way, run_id: RunId, events: Sequence[Stamped], append: Callable[[], Awaitable[T]]
    ) -> T:
        begun = time.perf_counter()
        done = await append()
        if way != "start":
            self.seconds.append(time.perf_counter() - begun)
            self.bytes += sum(len(dump_text(dump_event(one.event)).encode()) for one in events)
        return done


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
