"""Everything durable, in one place."""

from __future__ import annotations

from typing import Protocol

from agent.ports.allowances import Allowances
from agent.ports.journals import ControlJournal, Journal
from agent.ports.keeping import Limits, Projections, Verifier
from agent.ports.leases import Leases
from agent.ports.lists import Lists
from agent.ports.openings import Openings
from agent.ports.processes import Processes, Wakeups
from agent.ports.threads import Threads
from agent.ports.world import Clock


class Store(Protocol):
    """Everything durable."""

    @property
    def clock(self) -> Clock: ...
    @property
    def journal(self) -> Journal: ...
    @property
    def run_leases(self) -> Leases: ...
    @property
    def thread_leases(self) -> Leases: ...
    @property
    def threads(self) -> Threads: ...
    @property
    def openings(self) -> Openings: ...
    @property
    def allowances(self) -> Allowances: ...
    @property
    def lists(self) -> Lists: ...
    @property
    def control(self) -> ControlJournal: ...
    @property
    def limits(self) -> Limits: ...
    @property
    def wakeups(self) -> Wakeups: ...
    @property
    def processes(self) -> Processes: ...
    @property
    def projections(self) -> Projections: ...
    @property
    def verifier(self) -> Verifier: ...

    async def close(self) -> None: ...
