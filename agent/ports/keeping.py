"""What is kept beside the journals, and whether all of it is what was written."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Protocol

from agent.rules.anchors import Break, Head
from agent.rules.ids import ApprovalId, RunId
from agent.rules.state import RunState


class Limits(Protocol):
    """What is used of limits by the calls that reserved something of them."""

    async def used(self, limits: Collection[str]) -> dict[str, Decimal]:
        """Of each of these keys; zero where nothing was ever reserved."""

    async def mend(self, *, rest: float = 0.0) -> list[str]:
        """Put right what is kept beside the calls' reservations; what that was, and what can't be put
        right, in words. All of them are read; between two pages others go first for ``rest`` seconds."""


class Projections(Protocol):
    """What follows from the journals and is kept beside them, so that it is found at once: approvals,
    operations, how far threads are, and what a run's row says of it. The journals are right."""

    async def differences(self, state: RunState) -> list[str]:
        """What contradicts the run's journal, of which ``state`` is the fold, in words. Nothing while
        the journal is ahead of it. Raises ``NotFound``."""

    async def mend(self, state: RunState) -> list[str]:
        """The same, and put right in one transaction; nothing is written where nothing is wrong.
        Raises ``NotFound``, ``CorruptJournal`` for what can't be put right."""

    def suspects(self) -> AsyncIterator[RunId]:
        """Runs that have not ended, are not due, and wait for nobody, and ended ones whose questions are
        still listed, as far as can be seen without reading their journals."""

    async def askers(self, approval_id: ApprovalId) -> list[RunId]:
        """Unfinished runs of which one may have asked this approval, by their journals alone: for one
        whose row was lost. A search takes a while; after one in vain there is none for some seconds."""


@dataclass(frozen=True, slots=True)
class Checked:
    """What became of the check of one journal."""

    #: The last fact that was found whole.
    head: Head
    #: None where all of it is.
    broken: Break | None
    #: Something of it was removed, as the control journal says; the hash of each fact still stands.
    is_partly_removed: bool = False
    #: When all of it was removed; None: it was not.
    purged_at: datetime | None = None


class Verifier(Protocol):
    """Whether the journals are what was written: each fact's hash covers the one before it.

    With ``anchored``, a head that was taken out of the store earlier, also whether the journal still
    holds what it held then."""

    async def check(self, run_id: RunId, anchored: Head | None = None) -> Checked:
        """One run's. Raises ``NotFound``."""

    async def check_control(self, anchored: Head | None = None) -> Checked:
        """The control journal."""

    def runs(self) -> AsyncIterator[RunId]:
        """Every run, in the order of the ids."""

    def first_looks(self) -> AsyncIterator[tuple[RunId, Checked | None]]:
        """The same, with what a look at many of them at a time says; None for one that it does not find plainly
        whole: that ``check`` is to look at. Against no anchor."""

    def check_tombstones(self, anchored: Mapping[str, Head]) -> AsyncIterator[Checked]:
        """What is left of every run of which all was removed, in the order of the ids. What is taken out of
        ``anchored`` meanwhile was known."""

    async def check_tombstone(self, run_id: RunId, anchored: Head | None = None) -> Checked | None:
        """What is left of a run of which all was removed; None where it was not."""

    def missing(self) -> AsyncIterator[Break]:
        """Runs of which something was removed, as the control journal says, and that are not there, or end elsewhere,
        and have no tombstone. A run may come more than once."""

    async def removed_behind(self, seq: int) -> int:
        """Of how many runs something was removed, as the control journal says behind this fact of its own."""

    def orphans(self) -> AsyncIterator[RunId]:
        """Runs of which there are facts, but no row that says where they stand."""


@dataclass(frozen=True, slots=True)
class KeyStatus:
    """An encryption key as the store knows it."""

    key_id: str
    #: So many are encrypted with it.
    facts: int
    #: May there be facts under it, so that every process needs it?
    is_in_use: bool
    #: Has this process got it?
    is_here: bool


@dataclass(frozen=True, slots=True)
class Keeping:
    """What the facts are kept with: the keys, newest first, and how many facts are under none."""

    keys: tuple[KeyStatus, ...]
    clear: int
    #: Is there more to bring under the newest key?
    is_rotating: bool
    has_audit_key: bool
    #: Are there still runs without a mark that ended before there was an audit key?
    is_marking: bool
    #: The key that the setting has in front although the database has a newer one of them, which writes; else None.
    in_front: str | None = None
    #: The key that the setting has in front and that nothing is kept with yet; and is there an audit key of that kind?
    #: Whoever writes next takes them into use.
    new_key: str | None = None
    has_new_audit: bool = False


class Rotation(Protocol):
    """Brings what is kept under the newest encryption key, and marks what the audit key does not cover."""

    async def go_on(self, holder: str) -> bool:
        """The next few facts; several processes may do so at once, and each fact is rewritten once. False: nothing is
        to be done here, or somebody else is at it."""

    async def status(self) -> Keeping:
        """How it stands. Counts every fact."""
