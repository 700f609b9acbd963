"""The facts: of all runs, and those that belong to none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol

from agent.ports.threads import ThreadMessage
from agent.rules.control import RecordedControl, StampedControl
from agent.rules.ids import GrantId, RunId, SessionId
from agent.rules.recorded import Recorded, Stamped
from agent.rules.standing import Grant, Switch


@dataclass(frozen=True, slots=True)
class NewestRun:
    """A session's newest run, and where its journal ended when somebody looked; None where it had none."""

    run_id: RunId | None = None
    head_seq: int = 0


@dataclass(frozen=True, slots=True)
class StartsLimit:
    """So many runs of one agent may be started by one principal within any such time."""

    most: int
    within: timedelta


class Journal(Protocol):
    """The facts of all runs. What was appended stays; an event's id is appended once, however often
    it is tried."""

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
        """Begin a run, with what stands ``behind`` its first event, and make it due. A run that was
        begun with ``key`` is found, not begun again: its id is the answer. With ``newest``, of which
        ``behind`` was made, only while the session's newest run is that and has not moved. ``root`` is the
        message that has opened its thread (``Openings``): it is known from the start. With ``limit``,
        only while its requester has not started as many of its agent's runs as that says, by the store's
        clock; what is found, and not begun, counts once.

        Raises ``SessionBusy`` while the session has another active run, ``TooManyStarts``, ``SeqConflict``
        where its newest run is another, or has moved, and ``OpeningGivenUp`` where the thread was given up
        meanwhile."""

    async def read(self, run_id: RunId, after: int = 0) -> list[Recorded]:
        """The events behind ``after``, in order. Raises ``NotFound``, ``CorruptJournal``,
        ``UnknownEvent``."""

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
        """Append what begins something or ends the run: all or nothing, and only if the journal
        still ends at ``expected_seq``. Without ``fence`` (from outside) the run is made due. A
        decision is appended only while its approval is pending and not expired, ``approval_expired``
        only when its time is over, what rests on a grant only while that is in force, and a call's start
        only while its limits have room for what it reserves (``LimitReached``). ``control`` goes into the
        control journal with them, or neither does. At ``redraws`` stands a message of the run that whoever asks
        is about to redraw: it is announced with them (``Threads.announce``), as of the last one's time.
        What starts a call names by ``verdict_seq`` what it was judged by (``ControlJournal.verdict_seq``): nothing
        that can change a verdict is committed between that and this.

        Raises ``SeqConflict`` when the journal moved, or the approval or the grant is not as it has to be
        (``Untimely``, where that is for the time alone: then the store's clock is read anew), or
        ``verdict_seq`` is not the newest any more (``VerdictsMoved``),
        ``LeaseLost`` when ``fence`` has been replaced, and for a ``run_reopened`` ``SessionBusy`` while
        its session has another active run, ``GoneOn`` once a later one has begun in it."""

    async def record(
        self, run_id: RunId, events: Sequence[Stamped], *, fence: int
    ) -> list[Recorded]:
        """Append what already happened, behind whatever others recorded meanwhile.

        Raises ``NotFound``, ``LeaseLost``, and ``SeqConflict`` for what can't follow a run's end."""


class ControlJournal(Protocol):
    """The facts that belong to no run: one chain for the whole store."""

    async def record(self, events: Sequence[StampedControl]) -> None:
        """Append; an event's id is appended once, however often it is tried."""

    async def read(self, after: int = 0, limit: int = 100) -> list[RecordedControl]:
        """Up to ``limit`` events behind ``after``, in order. Raises ``CorruptJournal``,
        ``UnknownEvent``."""

    async def verdict_seq(self) -> int:
        """The newest fact that can change a verdict: a policy loaded, a grant given or revoked, a switch
        turned. Zero where there is none."""

    async def newest_policy(self, agent: str) -> RecordedControl | None:
        """The newest ``policy_loaded`` of this agent, found without reading what else there is.
        Raises ``CorruptJournal``, ``UnknownEvent``."""

    async def grants_in_force(self, agent: str, run_id: RunId, session: SessionId) -> list[Grant]:
        """The grants that a call of this run may rest on, by the store's clock, oldest first: those for
        the run, for its session, and for its agent wherever it is at work. A grant that can't be read
        is not among them."""

    async def grants(self, after: GrantId | None = None, limit: int = 100) -> list[Grant]:
        """Up to ``limit`` grants in force, in the order of their ids, behind ``after``."""

    async def switches(self, after: str = "", limit: int = 100) -> list[Switch]:
        """How each switch stands that was ever turned: up to ``limit``, in the order of their names,
        behind ``after``. Raises ``CorruptJournal``, ``UnknownEvent``."""

    async def switches_on(self) -> tuple[int, Sequence[Switch]]:
        """The switches that are on, and the ``verdict_seq`` of which nothing among them is older. Raises as
        ``switches``."""

    async def wake_released(self, limit: int, *, with_windows: bool = False) -> int:
        """Make due up to ``limit`` runs that wait for a switch which is off by now; how many these were.
        ``with_windows``: also those that wait for a window to end, for this build may know of none."""

    async def mend(self, *, at_sight: bool = False) -> list[str]:
        """Put right what is kept of grants and switches beside the journal; what that was, in words. ``at_sight``:
        only where it shows by the facts that are theirs; else all of the journal is read.
        Raises ``CorruptJournal``, ``UnknownEvent``."""
