"""What a call reserves of limits, and what becomes of it when its effect is known. Pure.

A call's start reserves; what did not happen gives it back; what happened, or may have happened, goes on
counting. ``reserved`` reads it from a run's state; ``status_after`` says the same event by event, for a
projection that is kept beside the journal. Whoever changes one changes the other::

    held ──┬── committed
           ├── rejected        over, and it did not happen
           └── freed ◀──▶ held    looked up, it did not happen: it may be begun again
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from agent.rules.names import Name

Status = Literal["held", "committed", "freed", "rejected"]
#: What an event says of a call's effect; ``ended``: the call is over, and nothing new is known.
Word = Literal["looked_up", "left_unknown", "committed", "rejected", "unknown", "ended"]

COUNTING: frozenset[Status] = frozenset(("held", "committed"))

#: Exact in every database and every sum: so many digits, so many of them behind the point.
Amount = Annotated[Decimal, Field(ge=0, max_digits=38, decimal_places=18, allow_inf_nan=False)]


class Reservation(BaseModel):
    """So much of a limit, which allows ``max`` in all. ``limit`` is an opaque key: whoever asks makes it
    of the rule, of what it counts by, and of its window."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    limit: Name
    amount: Amount
    max: Amount


@dataclass(frozen=True, slots=True)
class Reserved:
    """What a call has of a limit."""

    call_id: str
    limit: str
    amount: Decimal
    status: Status


def by_limit(reserves: Iterable[Reservation]) -> dict[str, Reservation]:
    """One for each limit: what is reserved twice is added, under the stricter maximum."""
    found: dict[str, Reservation] = {}
    for one in reserves:
        if before := found.get(one.limit):
            amount, least = before.amount + one.amount, min(before.max, one.max)
            one = one.model_copy(update={"amount": amount, "max": least})
        found[one.limit] = one
    return found


def held_after_start(
    before: Mapping[str, Decimal], reserves: Iterable[Reservation]
) -> dict[str, Decimal]:
    """What a call has of each limit once it was started, where ``before`` counted: an attempt more
    reserves nothing twice, and gives nothing back."""
    amounts = dict(before)
    for limit, one in by_limit(reserves).items():
        amounts[limit] = max(one.amount, amounts.get(limit, one.amount))
    return amounts


_NEWS: dict[Status, dict[Word, Status]] = {
    "held": {"committed": "committed", "rejected": "rejected"},
    "committed": {},
    "freed": {
        "committed": "committed",
        "unknown": "held",
        "rejected": "rejected",
        "ended": "rejected",
    },
    "rejected": {},
}


def status_after(status: Status, word: Word) -> Status:
    """What becomes of a reservation. The first known end of a call is the one."""
    match word:
        case "looked_up":
            return "freed"
        case "left_unknown":
            return "held"
        case _:
            return _NEWS[status].get(word, status)
