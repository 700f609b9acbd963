"""A run as the store should have it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from agent.ports import Lease
from store.instants import EPOCH

TERM = timedelta(seconds=30)


def stored(instant: datetime | None) -> int | None:
    return None if instant is None else (instant - EPOCH) // timedelta(microseconds=1)


@dataclass
class Modelled:
    """A run as it should be."""

    wake_at: datetime | None
    seq: int = 1
    fence: int = 0
    claims: int = 0
    holder: str | None = None
    lease_until: datetime | None = None
    ending: str | None = None
    #: When each open approval expires, and which call it is about.
    pending: dict[str, datetime] = field(default_factory=dict)
    asked: dict[str, str] = field(default_factory=dict)

    @property
    def row(self) -> tuple[object, ...]:
        """As it is stored, and how far its thread is wanted."""
        wake_at, lease_until = stored(self.wake_at), stored(self.lease_until)
        return self.seq, self.fence, self.holder, self.claims, wake_at, lease_until, self.seq

    def is_due(self, now: datetime) -> bool:
        return self.wake_at is not None and self.wake_at <= now

    def append(self, now: datetime, count: int = 1) -> None:
        self.seq += count
        self.claims = 0 if count else self.claims
        is_held = self.lease_until is not None and self.lease_until > now
        # What is due already keeps its place among those that wait.
        if count and not is_held and not self.is_due(now):
            self.wake_at = now

    def claim(self, lease: Lease, now: datetime) -> None:
        assert self.lease_until is None or self.lease_until <= now
        assert (lease.fence, lease.claims) == (self.fence + 1, self.claims + 1)
        self.fence, self.claims, self.holder = lease.fence, lease.claims, lease.holder
        self.wake_at = self.lease_until = now + TERM

    def put_off(
        self, now: datetime, until: datetime, *, seen_seq: int | None, is_fault: bool
    ) -> None:
        has_moved = seen_seq is not None and self.seq > seen_seq
        self.let_go(now if has_moved else until, is_fault=is_fault)

    def let_go(self, until: datetime | None, *, is_fault: bool = False) -> None:
        self.wake_at, self.holder, self.lease_until = until, None, None
        self.claims = self.claims if is_fault else 0
