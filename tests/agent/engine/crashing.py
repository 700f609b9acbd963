"""A store whose journal dies at a chosen append: the process is gone, the database is not."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

from agent.ports import (
    Allowances,
    Clock,
    ControlJournal,
    Journal,
    Leases,
    Limits,
    Lists,
    Openings,
    Processes,
    Projections,
    Rotation,
    Store,
    Threads,
    Verifier,
    Wakeups,
)
from agent.ports.purges import Purges
from agent.rules.ids import RunId
from agent.rules.recorded import Recorded, Stamped
from tests.agent.engine.journal_around import JournalAround, Way

T = TypeVar("T")
When = Literal["before", "after"]


class Crash(BaseException):
    """The process died here. Nothing catches it, as nothing catches a SIGKILL."""


@dataclass
class Fuse:
    """Counts appends over all handles; blows at the n-th, before or after its commit."""

    at: int
    when: When
    count: int = 0

    def before(self) -> None:
        self.count += 1
        if self.count == self.at and self.when == "before":
            raise Crash

    def after(self) -> None:
        if self.count == self.at and self.when == "after":
            raise Crash


@dataclass
class CrashingJournal(JournalAround):
    """The journal, behind a fuse."""

    fuse: Fuse

    async def around(
        self, way: Way, run_id: RunId, events: Sequence[Stamped], append: Callable[[], Awaitable[T]]
    ) -> T:
        self.fuse.before()
        done = await append()
        self.fuse.after()
        return done


@dataclass(frozen=True)
class StoreWith:
    """Everything of a store, with another journal."""

    inner: Store
    other: Journal

    @property
    def journal(self) -> Journal:
        return self.other

    @property
    def clock(self) -> Clock:
        return self.inner.clock

    @property
    def run_leases(self) -> Leases:
        return self.inner.run_leases

    @property
    def thread_leases(self) -> Leases:
        return self.inner.thread_leases

    @property
    def threads(self) -> Threads:
        return self.inner.threads

    @property
    def openings(self) -> Openings:
        return self.inner.openings

    @property
    def allowances(self) -> Allowances:
        return self.inner.allowances

    @property
    def lists(self) -> Lists:
        return self.inner.lists

    @property
    def control(self) -> ControlJournal:
        return self.inner.control

    @property
    def limits(self) -> Limits:
        return self.inner.limits

    @property
    def wakeups(self) -> Wakeups:
        return self.inner.wakeups

    @property
    def processes(self) -> Processes:
        return self.inner.processes

    @property
    def projections(self) -> Projections:
        return self.inner.projections

    @property
    def rotation(self) -> Rotation:
        return self.inner.rotation

    @property
    def purges(self) -> Purges:
        return self.inner.purges

    @property
    def verifier(self) -> Verifier:
        return self.inner.verifier

    async def close(self) -> None:
        await self.inner.close()


@dataclass
class HookedJournal(JournalAround):
    """The journal, with something that happens before each read and around each append."""

    before_read: Callable[[], None] = lambda: None
    before_intend: Callable[[Sequence[Stamped]], None] = lambda events: None
    after_intend: Callable[[Sequence[Stamped]], None] = lambda events: None
    before_record: Callable[[], None] = lambda: None
    before_record_of: Callable[[Sequence[Stamped]], None] = lambda events: None

    async def read(self, run_id: RunId, after: int = 0) -> list[Recorded]:
        self.before_read()
        return await super().read(run_id, after)

    async def around(
        self, way: Way, run_id: RunId, events: Sequence[Stamped], append: Callable[[], Awaitable[T]]
    ) -> T:
        if way == "intend":
            self.before_intend(events)
        elif way == "record":
            self.before_record()
            self.before_record_of(events)
        done = await append()
        if way == "intend":
            self.after_intend(events)
        return done
