"""What this engine has under way for the calls of one run, beside its loop."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from agent.rules.decisions import Decision
from agent.rules.events import ApprovalRequested, Event
from agent.rules.ids import CallId
from agent.rules.recorded import Recorded


@dataclass(frozen=True, slots=True)
class Happened:
    """A fact that is still to be recorded."""

    event: Event


@dataclass(frozen=True, slots=True)
class Written:
    """Facts that have been recorded already; none for a call that is left open."""

    recorded: Sequence[Recorded] = ()


@dataclass(frozen=True, slots=True)
class Heard:
    """What the agent's own decider says of this question; None: people are to be asked."""

    requested: ApprovalRequested
    decision: Decision | None

    def is_about(self, asked: ApprovalRequested) -> bool:
        """Is it the same question, but for its name and the time until which it waits?"""
        ours = self.requested
        return ours == asked.model_copy(
            update={"approval_id": ours.approval_id, "expires_at": ours.expires_at}
        )


Landing: TypeAlias = Happened | Written | Heard


@dataclass(frozen=True, slots=True)
class _Flight:
    task: asyncio.Task[Landing]
    #: Once begun it is heard out, whatever becomes of the lease.
    is_effect: bool


class Flights:
    """At most one flight a call: its preview, its decider, its run, or the look-up of its effect."""

    def __init__(self) -> None:
        self._flights: dict[CallId, _Flight] = {}

    @property
    def ids(self) -> frozenset[CallId]:
        return frozenset(self._flights)

    @property
    def have_landed(self) -> bool:
        return any(task.done() for task in self._tasks())

    def launch(
        self, call_id: CallId, work: Coroutine[Any, Any, Landing], *, is_effect: bool = False
    ) -> None:
        task = asyncio.create_task(work, name=f"call {call_id}")
        self._flights[call_id] = _Flight(task, is_effect)

    def land(self) -> Iterator[Landing]:
        """Take out what has ended, one by one. Raises what a task raised, behind what others have to
        say."""
        ended = [id for id, flight in self._flights.items() if flight.task.done()]
        for call_id in sorted(ended, key=lambda id: _has_failed(self._flights[id].task)):
            task = self._flights.pop(call_id).task
            if not task.cancelled():  # By nobody of ours: its call stays open.
                yield task.result()

    async def wait(self, *others: asyncio.Future[Any], timeout: float | None = None) -> None:
        """Until a flight or one of ``others`` ends, or ``timeout`` seconds have passed."""
        await asyncio.wait(
            {*self._tasks(), *others}, timeout=timeout, return_when=asyncio.FIRST_COMPLETED
        )

    async def hear_out(self, unless: asyncio.Future[Any]) -> None:
        """Until all effects have ended, or ``unless`` has; the rest is cut off."""
        await self.cut_off()
        while not unless.done() and (flying := [t for t in self._tasks() if not t.done()]):
            await asyncio.wait({*flying, unless}, return_when=asyncio.FIRST_COMPLETED)

    async def cut_off(self) -> None:
        """End everything that is no effect: it can be had again."""
        await self._cancel([id for id, flight in self._flights.items() if not flight.is_effect])

    async def cancel(self) -> None:
        """End them all; their calls stay open and are recovered by whoever comes next."""
        await self._cancel(list(self._flights))

    async def _cancel(self, call_ids: Sequence[CallId]) -> None:
        tasks = [self._flights.pop(call_id).task for call_id in call_ids]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _tasks(self) -> list[asyncio.Task[Landing]]:
        return [flight.task for flight in self._flights.values()]


def _has_failed(task: asyncio.Task[Landing]) -> bool:
    return not task.cancelled() and task.exception() is not None
