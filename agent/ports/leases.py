"""Exclusive, expiring rights."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from agent.rules.ids import RunId


@dataclass(frozen=True, slots=True)
class Lease:
    """The exclusive, expiring right to advance a run or to draw a thread."""

    run_id: RunId
    holder: str
    #: Grows with each claim; whoever has an older one has been replaced.
    fence: int
    expires_at: datetime
    #: How often the run has been claimed since its journal last moved, this time included, but for
    #: those that let it go in good order. Of a thread: always 1.
    claims: int = 1


@dataclass(frozen=True, slots=True)
class Renewal:
    """What became of leases that were to be extended."""

    extended: tuple[Lease, ...] = ()
    #: Still held, but not extended: somebody else was at these at this moment. To be asked again soon.
    busy: frozenset[RunId] = frozenset()


class Leases(Protocol):
    """Leases on runs, or on threads: one mechanism."""

    async def claim(
        self,
        holder: str,
        term: timedelta,
        limit: int,
        agents: Collection[str] | None = None,
        *,
        but_not: Collection[RunId] = (),
    ) -> list[Lease]:
        """Up to ``limit`` that are due, oldest first; only runs of ``agents`` where given, and none of
        ``but_not``: what this holder still works."""

    async def claim_one(
        self, run_id: RunId, holder: str, term: timedelta, *, seen_seq: int
    ) -> Lease | None:
        """This one, due or not; None while somebody holds it, if it has moved on from ``seen_seq``, or
        if it isn't for this build."""

    async def give_back(self, holder: str, *, but_not: Collection[RunId]) -> None:
        """What this holder has, but for what it works, is due at once: for whoever does not know what a claim gave
        whose answer was lost."""

    async def renew(self, holder: str, leases: Collection[Lease], term: timedelta) -> Renewal:
        """Extend what is still held, without waiting for anybody; what is missing from the answer is
        lost."""

    async def suspend(self, lease: Lease, *, seen_seq: int, until: datetime | None) -> bool:
        """Let go until an event or ``until``: only if nothing moved since ``seen_seq``; else False. It comes back
        at once if somebody has called for this thread since it was claimed.

        A thread that is let go has been drawn up to ``seen_seq``. Raises ``LeaseLost``."""

    async def defer(
        self,
        lease: Lease,
        *,
        until: datetime,
        seen_seq: int | None = None,
        is_fault: bool = False,
    ) -> None:
        """Let go and come back at ``until``; at once, if anything moved since ``seen_seq``, or somebody has called
        for this thread since it was claimed. After a fault (``is_fault``) this claim goes on counting.

        A lost lease is no error."""
