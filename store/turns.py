"""Works that want a row which somebody else has.

They are tried again in turns, each alone and for a moment, until their patience is over. So a row that is
locked for long keeps nobody waiting but who wants it.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from store.groups import HARDLY, Outcome, Transactions, Work, commit_alone


class Wanting(Protocol):
    @property
    def work(self) -> Work: ...

    @property
    def place(self) -> str | None:
        """Works of the same place are done in the order in which they were asked for; None: of none."""

    @property
    def is_wanted(self) -> bool:
        """Does anybody still wait for it?"""


W = TypeVar("W", bound=Wanting)


@dataclass(frozen=True, slots=True)
class _Waiting(Generic[W]):
    item: W
    until: float


class Turns(Generic[W]):
    """Of one writer."""

    def __init__(self, transactions: Transactions) -> None:
        self._transactions = transactions
        self._waiting: list[_Waiting[W]] = []

    def __bool__(self) -> bool:
        return bool(self._waiting)

    def take_in_line(self, items: Iterable[W]) -> list[W]:
        """Have those wait whose place something waits for already; the others."""
        places = {one.item.place for one in self._waiting} - {None}
        others = []
        for item in items:
            if item.place in places:
                self._add(item, time.monotonic())
            else:
                others.append(item)
        return others

    def take_locked(
        self, items: Sequence[W], outcomes: Sequence[Outcome], begun_at: float
    ) -> list[tuple[W, Outcome]]:
        """Have those wait that found a row locked; what became of the others."""
        done = []
        for item, outcome in zip(items, outcomes, strict=True):
            if outcome.is_locked:
                self._add(item, begun_at)
            else:
                done.append((item, outcome))
        return done

    def go_round(self) -> list[tuple[W, Outcome]]:
        """Try each once; what became of those that have ended, in whatever way. It takes no longer than one
        turn, but where very many wait."""
        if not self._waiting:
            return []
        waits = max(HARDLY, self._transactions.turn / len(self._waiting))
        done: list[tuple[W, Outcome]] = []
        still: list[_Waiting[W]] = []
        for one in self._waiting:
            if not one.item.is_wanted:
                continue
            if _is_behind(one, still):
                still.append(one)
                continue
            outcome = commit_alone(self._transactions, one.item.work, waits)
            if outcome.is_locked and time.monotonic() < one.until:
                still.append(one)
            else:
                done.append((one.item, outcome))
        self._waiting = still
        return done

    def _add(self, item: W, since: float) -> None:
        until = since + self._transactions.patience.total_seconds()
        self._waiting.append(_Waiting(item, until))


def _is_behind(one: _Waiting[W], others: Collection[_Waiting[W]]) -> bool:
    place = one.item.place
    return place is not None and any(other.item.place == place for other in others)
