"""Who goes before whom, where plain appends have a lane of their own beside the writer's thread: of each run what was
asked for first is done first, whichever of the two does it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from agent.rules.recorded import Recorded
from store.queued import Queued
from store.together import Appending

#: Of one run. In the lane each is a transaction by itself; in the thread those that are behind are done in one.
MOST_IN_LANE = 8


class Lane(Protocol):
    """A way of its own for plain appends, beside the writer's thread."""

    def takes(self, work: Appending) -> bool:
        """May it be done there, as far as is known without waiting?"""

    async def append(self, work: Appending) -> list[Recorded] | None:
        """What was appended, once it is durable; None where that is left to the writer, as all of its run that is
        behind it. Raises ``CommitInDoubt``."""

    def learn(self, work: Appending, recorded: list[Recorded]) -> None:
        """From what the writer did."""

    async def close(self) -> None:
        """Finish what waits, then let go of the database."""


class LaneOrder:
    """Of one lane and one thread, for whose works ``put`` is called. Belongs to the loop of the lane."""

    def __init__(self, lane: Lane, put: Callable[[Queued], None]) -> None:
        self._lane = lane
        self._put = put
        #: How many works of each name, or each run, are waited for in the thread; how many appends to each run in
        #: the lane, and what was asked for behind those.
        self._in_thread: Counter[str] = Counter()
        self._in_lane: Counter[str] = Counter()
        self._behind_lane: dict[str, list[Queued]] = {}

    async def run(self, item: Queued) -> Any:
        """What the thread makes of it, which has it once no earlier append to what it names is in the lane."""
        self._put_behind_lane(item, item.of)
        return await self._answer_to(item, item.of)

    async def append(self, work: Appending, queued: Callable[[], Queued]) -> list[Recorded]:
        """What was appended, in the lane where it may be done there. ``queued`` is called once where it may not."""
        run_id = work.run_id
        is_crowded = self._in_thread[run_id] or self._in_lane[run_id] >= MOST_IN_LANE
        if not is_crowded and self._lane.takes(work):
            with self._has_in_lane(run_id):
                if (appended := await self._lane.append(work)) is not None:
                    return appended
                # In its place: ahead of what was asked for behind it.
                item = queued()
                self._put(item)
        else:
            item = queued()
            self._put_behind_lane(item, run_id)
        # Its name may be another: an append that takes rows of other runs as well.
        recorded: list[Recorded] = await self._answer_to(item, run_id)
        self._lane.learn(work, recorded)
        return recorded

    async def close(self) -> None:
        """Finish what is in the lane; what is left of it to the thread, ``put`` is called for."""
        await self._lane.close()

    async def _answer_to(self, item: Queued, name: str) -> Any:
        """``name``: of whom none is done in the lane before that."""
        with _counted(self._in_thread, name):
            return await item.future

    def _put_behind_lane(self, item: Queued, name: str) -> None:
        if name in self._in_lane:
            self._behind_lane.setdefault(name, []).append(item)
        else:
            self._put(item)

    @contextmanager
    def _has_in_lane(self, run_id: str) -> Iterator[None]:
        try:
            with _counted(self._in_lane, run_id):
                yield
        finally:
            if run_id not in self._in_lane:
                for item in self._behind_lane.pop(run_id, ()):
                    self._put(item)


@contextmanager
def _counted(names: Counter[str], name: str) -> Iterator[None]:
    names[name] += 1
    try:
        yield
    finally:
        names[name] -= 1
        if not names[name]:
            del names[name]
