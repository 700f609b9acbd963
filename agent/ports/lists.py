"""Which runs and approvals there are."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol

from agent.ports.journals import StartsLimit
from agent.rules.decisions import Decider
from agent.rules.ids import ApprovalId, OperationId, Principal, RunId, SessionId
from agent.rules.purges import Removed


@dataclass(frozen=True, slots=True)
class RunRow:
    """What the lists know of a run without reading its journal."""

    run_id: RunId
    agent: str
    session: SessionId
    requester: Principal
    head_seq: int
    status: Literal["active", "finished", "failed", "cancelled"]
    holder: str | None
    #: What was removed of it.
    removed: Removed | None = None


@dataclass(frozen=True, slots=True)
class ApprovalRow:
    """Where an approval is asked, and whether it still is."""

    approval_id: ApprovalId
    run_id: RunId
    status: str
    requested_at: datetime


class Lists(Protocol):
    """Which runs and approvals there are. Each touches only the rows that it gives."""

    async def runs(
        self, *, limit: int, requester: Principal | None = None, active_only: bool = False
    ) -> list[RunRow]:
        """Newest first; only those that ``requester`` asked for, or that have not ended."""

    async def run(self, run_id: RunId) -> RunRow | None: ...

    async def active_run(self, session: SessionId) -> RunRow | None: ...

    async def runs_of_session(self, session: SessionId, *, limit: int) -> list[RunRow]:
        """Those that have ended as well, newest first."""

    async def run_of_key(self, key: str) -> RunId | None:
        """The run that was begun with this key."""

    async def approvals(
        self, *, limit: int, pending_only: bool = True, newest_first: bool = False
    ) -> list[ApprovalRow]:
        """Oldest first, unless told otherwise."""

    async def count_approvals(self, *, at_most: int, pending_only: bool = True) -> int:
        """How many of them there are; no more than ``at_most`` are counted."""

    async def undecided(self, *, limit: int) -> list[ApprovalRow]:
        """What nobody decided in time and nothing followed, of runs that have not ended, oldest first.
        Whether its run waits because of it stands in the journal. Looks through the runs that have not
        ended."""

    async def must_have_starts_left(
        self, requester: Principal, agent: str, limit: StartsLimit
    ) -> None:
        """Raises ``TooManyStarts`` where ``Journal.start`` would now, which alone is sure of it."""

    async def groups_asked(self, *, limit: int) -> list[str]:
        """The groups for which anything waits now."""

    async def waiting_for(self, decider: Decider, *, limit: int) -> list[ApprovalRow]:
        """What this person may decide and has not said yes to, and what nobody decided in time and they can have
        asked again; oldest first. Also what an older build asked, which does not say for whom: whether it waits
        for them stands in its run's journal."""

    async def decided_lately(self, principal: Principal, *, limit: int) -> list[ApprovalRow]:
        """What they decided, and what was decided of the runs that they asked for; newest first."""

    async def approval(self, approval_id: ApprovalId) -> ApprovalRow | None: ...

    async def run_of_operation(self, operation_id: OperationId) -> RunId | None: ...
