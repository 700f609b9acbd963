"""The store's clock: the one that judges expiry, leases and what is due."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Protocol

from sqlalchemy import Connection, select

from agent.ports import Clock
from store.now import NOW

_NOW = select(NOW)


class SystemClock:
    """This host's clock. A SQLite file is one host's, so every process on it reads the same."""

    def now(self) -> datetime:
        return datetime.fromtimestamp(time.time(), UTC)


class StoreClock(Clock, Protocol):
    """What judges, and what is known of it here between two statements."""

    def told(self) -> datetime | None:
        """What a statement is told of the time; None, where the database itself knows it."""

    def measure(self, connection: Connection) -> None:
        """Compare with what judges, if that is elsewhere."""


class GivenClock:
    """Judges by a clock of this process."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def now(self) -> datetime:
        return self._clock.now()

    def told(self) -> datetime:
        return self._clock.now()

    def measure(self, connection: Connection) -> None:
        pass


class DatabaseClock:
    """Judges by the database's clock; ``now`` is as far from this process's monotonic clock as it was
    at the last measurement. What this host takes for the time is never asked."""

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._at_zero: datetime | None = None

    def now(self) -> datetime:
        assert self._at_zero is not None, "it is measured when the store is opened"
        return self._at_zero + timedelta(seconds=self._monotonic())

    def told(self) -> None:
        return None

    def measure(self, connection: Connection) -> None:
        asked_at = self._monotonic()
        now = connection.execute(_NOW, {"now": None}).scalar_one()
        # It was read between the question and the answer: half-way is at most half the way wrong.
        halfway = (asked_at + self._monotonic()) / 2
        self._at_zero = now - timedelta(seconds=halfway)
