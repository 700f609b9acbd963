"""A journal with something around each append: who wants to see, to delay or to interrupt them says what."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

from agent.ports import Journal, NewestRun, StartsLimit, ThreadMessage
from agent.rules.control import StampedControl
from agent.rules.ids import RunId
from agent.rules.recorded import Recorded, Stamped

T = TypeVar("T")

Way = Literal["start", "intend", "record"]


@dataclass
class JournalAround(ABC):
    """The ``Journal`` port over another one."""

    inner: Journal

    @abstractmethod
    async def around(
        self, way: Way, run_id: RunId, events: Sequence[Stamped], append: Callable[[], Awaitable[T]]
    ) -> T:
        """``append`` does it, once, and gives what is to be given."""

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
        return await self.around(
            "start",
            run_id,
            (started, *behind),
            lambda: self.inner.start(
                run_id, started, key=key, behind=behind, newest=newest, root=root, limit=limit
            ),
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
        return await self.around(
            "intend",
            run_id,
            events,
            lambda: self.inner.intend(
                run_id,
                events,
                expected_seq=expected_seq,
                fence=fence,
                control=control,
                redraws=redraws,
                verdict_seq=verdict_seq,
            ),
        )

    async def record(
        self, run_id: RunId, events: Sequence[Stamped], *, fence: int
    ) -> list[Recorded]:
        return await self.around(
            "record", run_id, events, lambda: self.inner.record(run_id, events, fence=fence)
        )
