"""Who is alive, and word between them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Protocol


class Wakeups(Protocol):
    """Word that something in the store has moved, in whatever process."""

    @property
    def moves(self) -> int:
        """How often it has moved; take it before you look, and wait beyond it."""

    async def wait(self, moves: int, timeout: float) -> None:
        """Until there are more than ``moves``, or ``timeout`` seconds have passed."""


@dataclass(frozen=True, slots=True)
class Process:
    """A process on this store, as the others see it."""

    process_id: str
    build: str
    agents: tuple[str, ...]
    does_work: bool
    draws: bool
    #: The names of each agent's tools; None where an older build did not say.
    tools: Mapping[str, tuple[str, ...]] | None = None
    #: The newest form of journals that it can read: told by the store, None where an older build did
    #: not say.
    form: int | None = field(default=None, compare=False)

    def can_read(self, form: int) -> bool:
        """Can it read a journal of this form? Whoever did not say so is of the second; whoever did not
        say which tools it has either, of the first."""
        return form <= (self.form or (1 if self.tools is None else 2))

    def can_take_on(self, agent: str, tools: Collection[str], form: int) -> bool:
        """Has it this agent, with these tools, and can it read a journal of this form? Whoever did not
        say which tools it has counts as having them."""
        if agent not in self.agents or not self.can_read(form):
            return False
        return self.tools is None or set(tools) <= set(self.tools.get(agent, ()))


class Processes(Protocol):
    """Who is alive. A process that died on this host is known at once."""

    async def join(self, process: Process) -> None:
        """Make this process known; it must beat at least once a term."""

    async def beat(self, process_id: str) -> None: ...

    async def leave(self, process_id: str) -> None: ...

    async def alive(self, term: timedelta) -> list[Process]:
        """Those who beat within the last ``term`` and are not known to be dead."""

    async def bury_dead(self) -> list[str]:
        """End the leases of processes that died on this host; their ids."""
