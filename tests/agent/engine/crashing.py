"""A store whose journal dies at a chosen append: the process is gone, the database is not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from agent.ports import (
    Allowances,
    Clock,
    ControlJournal,
    Journal,
    Leases,
    Limits,
    Lists,
    NewestRun,
    Openings,
    Processes,
    Projections,
    Rotation,
    StartsLimit,
    Store,
    ThreadMessage,
    Threads,
    Verifier,
    Wakeups,
)
from agent.ports.purges import Purges
from agent.rules.control import StampedControl
from agent.rules.ids import RunId
from agent.rules.recorded import Recorded, Stamped

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


@dataclass(frozen=True)
class CrashingJournal:
    """The journal, behind a fuse."""

    inner: Journal
    fuse: Fuse

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
        self.fuse.before()
        begun = await self.inner.start(
            run_id, started, key=key, behind=behind, newest=newest, root=root, limit=limit
        )
        self.fuse.after()
        return begun

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
        self.fuse.before()
        recorded = await self.inner.intend(
            run_id,
            events,
            expected_seq=expected_seq,
            fence=fence,
            control=control,
            redraws=redraws,
            verdict_seq=verdict_seq,
        )
        self.fuse.after()
        return recorded

    async def record(
        self, run_id: RunId, events: Sequence[Stamped], *, fence: int
    ) -> list[Recorded]:
        self.fuse.before()
        recorded = await self.inner.record(run_id, events, fence=fence)
        self.fuse.after()
        return recorded


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


@dataclass(frozen=True)
class HookedJournal:
    """The journal, with something that happens before each read and around each append."""

    inner: Journal
    before_read: Callable[[], None] = lambda: None
    before_intend: Callable[[Sequence[Stamped]], None] = lambda events: None
    after_intend: Callable[[Sequence[Stamped]], None] = lambda events: None
    before_record: Callable[[], None] = lambda: None
    before_record_of: Callable[[Sequence[Stamped]], None] = lambda events: None

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
        self.before_read()
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
        self.before_intend(events)
        done = await self.inner.intend(
            run_id,
            events,
            expected_seq=expected_seq,
            fence=fence,
            control=control,
            redraws=redraws,
            verdict_seq=verdict_seq,
        )
        self.after_intend(events)
        return done

    async def record(
        self, run_id: RunId, events: Sequence[Stamped], *, fence: int
    ) -> list[Recorded]:
        self.before_record()
        self.before_record_of(events)
        return await self.inner.record(run_id, events, fence=fence)
