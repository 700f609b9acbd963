"""What is removed of runs that ended long ago, and how much there is of everything."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from agent.rules.ids import ApprovalId, Principal, RunId
from agent.rules.purges import Removed
from agent.rules.retention import Resting, Retention


@dataclass(frozen=True, slots=True)
class Candidate:
    """A run of which something may go by its age, claimed for a while: nobody else looks at it meanwhile."""

    run_id: RunId
    head_seq: int
    #: A removal that was begun; None: none is.
    begun: Removed | None


@dataclass(frozen=True, slots=True)
class Removal:
    """What is to go of one run, whose journal ends at ``head_seq``."""

    run_id: RunId
    head_seq: int
    removed: Removed
    rule: str
    #: The other runs of its conversation, and where each ended, when this was decided: there may be no more by now, and
    #: none may have gone on. None: they don't matter.
    beside: frozenset[tuple[RunId, int]] | None = None


@dataclass(frozen=True, slots=True)
class PastRemoval:
    """What was removed of a run, or is left of it where all is: when, by which limit, and where its journal ended."""

    run_id: RunId
    removed: Removed
    at: datetime
    rule: str
    head_seq: int
    head_hash: str


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much there is. Bytes are those of the texts; ``database`` is what the whole takes up on its disk."""

    runs: Mapping[str, int]
    #: Of how many runs this is gone: of those under ``audit`` only a tombstone is left.
    removed: Mapping[Removed, int]
    events: int
    control_events: int
    #: Messages that show runs.
    messages: int
    bytes: Mapping[str, int]
    oldest: datetime | None
    #: How many runs retention would look at now, by what would go at most. Some of them may be needed still.
    due: Mapping[Removed, int] = field(default_factory=dict)


class Purges(Protocol):
    """Removes what was kept long enough, a little at a time. Each piece is one transaction with its fact in the
    control journal, so that a crash leaves nothing half done; what was begun is gone on with by anybody."""

    async def claim(self, retention: Retention, limit: int) -> list[Candidate]:
        """Up to ``limit``: first what was begun, then, of each ending and level, the longest at rest. They are this
        caller's for a minute."""

    def due(self, retention: Retention) -> AsyncIterator[Candidate]:
        """The same, all of them, for whoever only looks: nothing is claimed, and nothing left out that is claimed."""

    async def resting(self, run_id: RunId) -> Resting | None:
        """What decides, beside the journal; None for a run that is not there."""

    async def beside(self, run_id: RunId) -> Sequence[tuple[RunId, int]]:
        """The other runs of its conversation, newest first, and where their journals end."""

    async def spare(self, run_ids: Sequence[RunId]) -> None:
        """They may not go yet: nobody looks at them for a day."""

    async def remove(self, removals: Sequence[Removal], by: Principal) -> list[RunId]:
        """Remove all of this, in pieces; of which runs it was. What has changed since it was decided is left
        alone. Raises ``CorruptJournal``, ``UnknownEvent``: what is not whole is evidence, and stays."""

    async def purged(self, run_id: RunId) -> PastRemoval | None:
        """What was removed of this run; None: nothing, or it was never there."""

    async def of_approval(self, approval_id: ApprovalId) -> PastRemoval | None:
        """The run that had asked this, and of which everything was removed; None: no such run did."""

    async def mend(self, *, at_sight: bool = False) -> list[str]:
        """Put right where a run's row does not say how much of it was removed, as the control journal does; what that
        was, in words. ``at_sight``: only where the row of a run that has not ended, or of which something is still
        asked, says that anything was, which lets nobody go on with it; else all rows and all of the control journal
        are read. Raises ``CorruptJournal``, ``UnknownEvent`` where that journal can't be read as it was written: then
        nothing is changed."""

    async def sizes(self, retention: Retention) -> Sizes:
        """How much there is of everything, and what would go now."""
